import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { to } from "../../app/places";
import { type Affected, impactCsv, sums } from "../../graph/impact";
import { type Endpoint, isJob, nodeKey } from "../../graph/names";
import type { ShownNode } from "../../graph/shown";
import { Answer, Empty } from "../../parts/Answer";
import { Copy } from "../../parts/Copy";
import { Icon } from "../../parts/icons";
import { Name } from "../../parts/Name";
import { State } from "../../parts/State";
import { save } from "../../parts/save";
import { counted } from "../../parts/words";
import type { Room } from "../Explorer";
import { type Impact, impact } from "../questions";
import { columnOn } from "../where";

interface Props extends Room {
  about: Endpoint;
  show: (of: Endpoint) => void;
  shown: ReadonlyMap<string, ShownNode>;
}

/** What breaks if it changes. The same question lights the path, so the list and the graph agree. */
export function ImpactTab(props: Props) {
  const { about, where } = props;
  const column = columnOn(where);
  const found = useQuery(impact(about, column, where.at));
  return (
    <Answer of={found} lines={6}>
      {(data) => <Found {...props} found={data} column={column} />}
    </Answer>
  );
}

function Found({ found, column, about, where, move, show, shown }: Props & { found: Impact; column: string | null }) {
  const [most, setMost] = useState(100);
  const { affected, readers } = found;
  const total = sums(affected);
  const drawn = affected.filter((one) => shown.has(nodeKey(one.endpoint))).length;
  const what = column === null ? "it" : `its column ${column.slice(0, 100)}`;
  if (affected.length === 0) {
    return (
      <div className="column">
        <Empty>Nothing is known to be made of {what}.</Empty>
        <Readers of={readers} />
      </div>
    );
  }
  return (
    <div className="column">
      <p className="answer">
        If {what} changes: <strong>{counted(total.assets, "asset")}</strong>,{" "}
        <strong>{counted(total.columns, "column")}</strong>, <strong>{counted(total.jobs, "job")}</strong>
        {found.truncated && " and more"}.
      </p>
      <div className="row wrap">
        <button type="button" aria-pressed={where.impact} onClick={() => move({ impact: !where.impact })}>
          Show all in the graph
        </button>
        <span className="dim">
          {drawn === affected.length
            ? "All of them are in the graph."
            : `${drawn} of ${counted(affected.length, "asset")} in the graph.`}
        </span>
      </div>
      <div className="row wrap">
        <Copy text={impactCsv(affected)} word="Copy the list" />
        <button
          type="button"
          className="quiet"
          onClick={() => save(fileName(about), new Blob([impactCsv(affected)], { type: "text/csv" }))}
        >
          <Icon name="down" />
          CSV
        </button>
      </div>
      <ol className="plain list impact" aria-label="Affected">
        {affected.slice(0, most).map((one) => (
          <Line
            key={nodeKey(one.endpoint)}
            of={one}
            drawn={shown.has(nodeKey(one.endpoint))}
            show={() => show(one.endpoint)}
          />
        ))}
      </ol>
      {affected.length > most && (
        <button type="button" onClick={() => setMost(most + 500)}>
          + {counted(affected.length - most, "asset")}
        </button>
      )}
      <Readers of={readers} />
    </div>
  );
}

function Line({ of, drawn, show }: { of: Affected; drawn: boolean; show: () => void }) {
  const named = of.columns.filter((column) => column.name !== null);
  return (
    <li>
      <div className="row">
        <span className="dim depth" title={`${counted(of.depth, "hop")} away`}>
          {of.depth}
        </span>
        <button
          type="button"
          className="quiet grow"
          onClick={show}
          title={drawn ? "In the graph" : "Bring it into the graph"}
        >
          <Name of={of.endpoint.name} />
        </button>
        {drawn && <span className="tag">shown</span>}
        {of.latest_run && <State of={of.latest_run.state} />}
      </div>
      <div className="dim under">
        {isJob(of.endpoint) ? "a job" : told(named)}
        {of.jobs.length > 0 &&
          ` · by ${of.jobs
            .slice(0, 3)
            .map((job) => job.name.slice(0, 60))
            .join(", ")}`}
        {of.owner && ` · ${of.owner.slice(0, 60)}`}
      </div>
    </li>
  );
}

function told(columns: Affected["columns"]): string {
  if (columns.length === 0) return "as a whole";
  const names = columns
    .slice(0, 6)
    .map(
      (column) =>
        `${column.name?.slice(0, 60)}${column.dependency === "DIRECT" ? "" : ` (${column.dependency.toLowerCase()})`}`,
    );
  return names.join(", ") + (columns.length > 6 ? ` and ${columns.length - 6} more` : "");
}

function Readers({ of }: { of: Impact["readers"] }) {
  if (of.length === 0) return null;
  return (
    <section aria-label="Readers">
      <h2>{counted(of.length, "job")} that read it and write nothing known</h2>
      <ul className="plain list">
        {of.slice(0, 200).map((job) => (
          <li key={nodeKey(job)}>
            <Link href={to.job(job)}>{job.name.slice(0, 200)}</Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function fileName({ name }: Endpoint): string {
  return `impact-${(name.slice(name.lastIndexOf("/") + 1) || name).replace(/[^\w.-]+/g, "_").slice(0, 80)}.csv`;
}
