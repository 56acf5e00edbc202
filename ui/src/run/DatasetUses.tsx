import { useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { to } from "../app/addresses";
import { VIA_JOB, VIA_JOB_REASON } from "../graph/via-job";
import { countOf, formatBytes, formatNumber } from "../parts/format";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { count, members, objects, text } from "./facets";
import { rowsOf } from "./figures";
import { LongText } from "./LongText";

type Use = Schemas["DatasetUse"];
const MOST = 50;

/** What it read and wrote. */
export function DatasetUses({ detail }: { detail: Schemas["RunDetail"] }) {
  const none = detail.inputs.length + detail.outputs.length === 0;
  if (none && detail.children.length > 0) return null; // the child runs have them
  return (
    <>
      {detail.edges.some((edge) => edge.via_job) && (
        <p>
          <span className="tag via-job">{VIA_JOB}</span> {VIA_JOB_REASON}.
        </p>
      )}
      <InputsAndOutputs detail={detail} />
    </>
  );
}

function InputsAndOutputs({ detail }: { detail: Schemas["RunDetail"] }) {
  return (
    <div className="cards">
      <UseList title="Inputs" none="No recorded inputs." uses={detail.inputs} />
      <UseList title="Outputs" none="No recorded outputs." uses={detail.outputs} wrote />
    </div>
  );
}

function UseList({ title, none, uses, wrote = false }: { title: string; none: string; uses: Use[]; wrote?: boolean }) {
  const [all, setAll] = useState(false);
  const shown = all ? uses : uses.slice(0, MOST);
  return (
    <section className="card column" aria-label={title}>
      <h2>
        {title} <span className="dim">{uses.length > 0 && countOf(uses.length, "dataset")}</span>
      </h2>
      {uses.length === 0 && <p className="dim">{none}</p>}
      {shown.length > 0 && (
        <ul className="plain lines">
          {shown.map((use) => (
            <li key={JSON.stringify(use.dataset)}>
              <UseLine use={use} wrote={wrote} />
            </li>
          ))}
        </ul>
      )}
      {shown.length < uses.length && (
        <button type="button" className="quiet" onClick={() => setAll(true)}>
          Show {formatNumber(uses.length - shown.length)} more
        </button>
      )}
    </section>
  );
}

function UseLine({ use, wrote }: { use: Use; wrote: boolean }) {
  const { dataset, facets, io_facets: io } = use;
  const statistics = members(wrote ? io.outputStatistics : io.inputStatistics);
  const [rows, bytes] = [rowsOf(use), count(statistics.size)];
  const columns = objects(members(facets.schema).fields).length;
  const gaps = objects(members(facets.headwater_coverage).gaps);
  const version = text(members(facets.version).datasetVersion);
  const change = text(members(facets.lifecycleStateChange).lifecycleStateChange);
  const facts = [
    rows === null ? null : countOf(rows, "row"),
    bytes === null ? null : formatBytes(bytes),
    columns === 0 ? null : countOf(columns, "column"),
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
        <LongText of={facts.join(" · ") || "size unknown"} />
      </div>
      {gaps.length > 0 && (
        <div className="warn row start">
          <Icon name="alert" />
          <LongText of={`Lineage incomplete at ${gaps.map((gap) => text(gap.operator) ?? "a step").join(", ")}`} />
        </div>
      )}
    </>
  );
}
