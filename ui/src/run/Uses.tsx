import { useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { to } from "../app/places";
import { VIA_JOB, VIA_JOB_REASON } from "../graph/via-job";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { amount, counted, size } from "../parts/words";
import { count, listed, members, text } from "./facets";
import { rowsOf } from "./head";
import { Long } from "./Long";

type Use = Schemas["DatasetUse"];
const MOST = 50;

/** What it read and wrote. */
export function Uses({ detail }: { detail: Schemas["RunDetail"] }) {
  const none = detail.inputs.length + detail.outputs.length === 0;
  if (none && detail.children.length > 0) return null; // it is told of the runs within
  return (
    <>
      <ReadAndWritten detail={detail} />
      {detail.edges.some((edge) => edge.via_job) && (
        <p className="via-job-note">
          <span className="tag via-job">{VIA_JOB}</span> {VIA_JOB_REASON}.
        </p>
      )}
    </>
  );
}

function ReadAndWritten({ detail }: { detail: Schemas["RunDetail"] }) {
  return (
    <div className="cards">
      <Side title="It read" none="It read nothing that was told of." uses={detail.inputs} />
      <Side title="It wrote" none="It wrote nothing that was told of." uses={detail.outputs} wrote />
    </div>
  );
}

function Side({ title, none, uses, wrote = false }: { title: string; none: string; uses: Use[]; wrote?: boolean }) {
  const [all, setAll] = useState(false);
  const shown = all ? uses : uses.slice(0, MOST);
  return (
    <section className="card column" aria-label={title}>
      <h2>
        {title} <span className="dim">{uses.length > 0 && counted(uses.length, "dataset")}</span>
      </h2>
      {uses.length === 0 && <p className="dim">{none}</p>}
      {shown.length > 0 && (
        <ul className="plain lines">
          {shown.map((use) => (
            <li key={JSON.stringify(use.dataset)}>
              <Line use={use} wrote={wrote} />
            </li>
          ))}
        </ul>
      )}
      {shown.length < uses.length && (
        <button type="button" className="quiet" onClick={() => setAll(true)}>
          Show {amount(uses.length - shown.length)} more
        </button>
      )}
    </section>
  );
}

function Line({ use, wrote }: { use: Use; wrote: boolean }) {
  const { dataset, facets, io_facets: io } = use;
  const told = members(wrote ? io.outputStatistics : io.inputStatistics);
  const [rows, bytes] = [rowsOf(use), count(told.size)];
  const columns = listed(members(facets.schema).fields).length;
  const gaps = listed(members(facets.headwater_coverage).gaps);
  const version = text(members(facets.version).datasetVersion);
  const change = text(members(facets.lifecycleStateChange).lifecycleStateChange);
  const said = [
    rows === null ? null : counted(rows, "row"),
    bytes === null ? null : size(bytes),
    columns === 0 ? null : counted(columns, "column"),
    version === null ? null : `version ${version}`,
    change === null ? null : change.toLowerCase(),
    use.partitions.length > 0 ? use.partitions.slice(0, 3).join(", ") + (use.partitions.length > 3 ? ", …" : "") : null,
  ].filter((one) => one !== null);
  return (
    <>
      <div className="row apart">
        <Link href={to.explore(dataset)} className="grow">
          <Name of={dataset.name} title={`${dataset.namespace} ${dataset.name}`} />
        </Link>
        {members(io.headwater_rows).mode !== undefined && <Link href={to.rows(dataset)}>Rows</Link>}
      </div>
      <div className="dim">
        <Long of={said.join(" · ") || "nothing was told of its size"} />
      </div>
      {gaps.length > 0 && (
        <div className="warn row start">
          <Icon name="alert" />
          <Long of={`Lineage ends before it: ${gaps.map((gap) => text(gap.operator) ?? "a step").join(", ")}`} />
        </div>
      )}
    </>
  );
}
