import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { to } from "../../app/addresses";
import { type Affected, impactCsv, impactTotals } from "../../graph/impact";
import { type Endpoint, isJob, nodeKey } from "../../graph/names";
import type { VisibleNode } from "../../graph/visible-graph";
import { RunState } from "../../parts/Badge";
import { Copy } from "../../parts/Copy";
import { countOf } from "../../parts/format";
import { Icon } from "../../parts/icons";
import { Name } from "../../parts/Name";
import { Empty, QueryResult } from "../../parts/QueryResult";
import { saveFile } from "../../parts/save";
import type { ExplorerProps } from "../Explorer";
import { type Impact, impact } from "../queries";
import { columnOn } from "../view-state";

interface ImpactTabProps extends ExplorerProps {
  about: Endpoint;
  show: (of: Endpoint) => void;
  shown: ReadonlyMap<string, VisibleNode>;
}

/** What breaks if it changes. The same question lights the path, so the list and the graph agree. */
export function ImpactTab(props: ImpactTabProps) {
  const { about, where } = props;
  const column = columnOn(where);
  const impactQuery = useQuery(impact(about, column, where.at));
  return (
    <QueryResult of={impactQuery} lines={6}>
      {(data) => <ImpactList {...props} impactData={data} column={column} />}
    </QueryResult>
  );
}

function ImpactList({
  impactData,
  column,
  about,
  where,
  move,
  show,
  shown,
}: ImpactTabProps & { impactData: Impact; column: string | null }) {
  const [most, setMost] = useState(100);
  const { affected, readers } = impactData;
  const total = impactTotals(affected);
  const drawn = affected.filter((one) => shown.has(nodeKey(one.endpoint))).length;
  const what = column === null ? "this dataset" : `column ${column.slice(0, 100)}`;
  if (affected.length === 0) {
    return (
      <div className="column">
        <Empty>No dataset depends on {what}.</Empty>
        <Readers of={readers} />
      </div>
    );
  }
  return (
    <div className="column">
      <p className="answer">
        If {what} changes: <strong>{countOf(total.assets, "asset")}</strong>,{" "}
        <strong>{countOf(total.columns, "column")}</strong>, <strong>{countOf(total.jobs, "job")}</strong>
        {impactData.truncated && " and more"}.
      </p>
      <div className="row wrap">
        <button type="button" aria-pressed={where.impact} onClick={() => move({ impact: !where.impact })}>
          Show all in graph
        </button>
        <span className="dim">
          {drawn === affected.length
            ? "All are in the graph."
            : `${drawn} of ${countOf(affected.length, "asset")} in the graph.`}
        </span>
      </div>
      <div className="row wrap">
        <Copy text={impactCsv(affected)} word="Copy list" />
        <button
          type="button"
          className="quiet"
          onClick={() => saveFile(fileName(about), new Blob([impactCsv(affected)], { type: "text/csv" }))}
        >
          <Icon name="down" />
          CSV
        </button>
      </div>
      <ol className="plain list impact" aria-label="Affected">
        {affected.slice(0, most).map((one) => (
          <AffectedLine
            key={nodeKey(one.endpoint)}
            of={one}
            drawn={shown.has(nodeKey(one.endpoint))}
            show={() => show(one.endpoint)}
          />
        ))}
      </ol>
      {affected.length > most && (
        <button type="button" onClick={() => setMost(most + 500)}>
          + {countOf(affected.length - most, "asset")}
        </button>
      )}
      <Readers of={readers} />
    </div>
  );
}

function AffectedLine({ of, drawn, show }: { of: Affected; drawn: boolean; show: () => void }) {
  const named = of.columns.filter((column) => column.name !== null);
  return (
    <li>
      <div className="row">
        <span className="dim depth" title={`${countOf(of.depth, "hop")} away`}>
          {of.depth}
        </span>
        <button type="button" className="quiet grow" onClick={show} title={drawn ? "In the graph" : "Add to the graph"}>
          <Name of={of.endpoint.name} />
        </button>
        {drawn && <span className="tag">in graph</span>}
        {of.latest_run && <RunState of={of.latest_run.state} />}
      </div>
      <div className="dim under">
        {isJob(of.endpoint) ? "a job" : columnList(named)}
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

function columnList(columns: Affected["columns"]): string {
  if (columns.length === 0) return "all columns";
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
      <h2>{countOf(of.length, "job")} that read it and have no recorded output</h2>
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
