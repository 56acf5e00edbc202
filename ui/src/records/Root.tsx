import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "wouter";
import { client, responseData } from "../api/client";
import { address } from "../app/addresses";
import { Badge } from "../parts/Badge";
import { countOf, formatNumber } from "../parts/format";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { Empty, QueryResult } from "../parts/QueryResult";
import { saveFile } from "../parts/save";
import { forestOf } from "./forest";
import { Tree } from "./Tree";
import { actionsOf, filterByAction, readTrace, type Trace } from "./trace";

interface RootTrace {
  document: unknown;
  trace: Trace;
}

/** What became of a root: its records as a tree, and what is wrong with them. */
export function Root({ root, action, filter }: { root: string; action: string; filter: (action: string) => void }) {
  const rootTrace = useQuery({
    queryKey: ["lineage", "records", "trace", root],
    queryFn: async (): Promise<RootTrace> => {
      const document = await responseData(client.GET("/api/v1/records/trace", { params: { query: { root } } }));
      return { document, trace: readTrace(document) };
    },
    // A big root is megabytes: it is not compared with what was there before.
    structuralSharing: false,
  });
  return (
    <QueryResult of={rootTrace}>
      {(result) => <RootView rootTrace={result} action={action} filter={filter} />}
    </QueryResult>
  );
}

function RootView({
  rootTrace,
  action,
  filter,
}: {
  rootTrace: RootTrace;
  action: string;
  filter: (action: string) => void;
}) {
  const { trace } = rootTrace;
  const actions = useMemo(() => actionsOf(trace), [trace]);
  const shown = useMemo(() => (action === "" ? trace : filterByAction(trace, action)), [trace, action]);
  const forest = useMemo(() => forestOf(shown), [shown]);
  const download = () =>
    saveFile(`${trace.root.replaceAll(/[^\w.-]+/g, "_").slice(0, 100)}.json`, json(rootTrace.document));
  return (
    <>
      <section className="card row wrap apart" aria-label="Root">
        <div className="column tight">
          <h2 className="root">
            <Name of={trace.root} />
          </h2>
          <TraceSummary trace={shown} />
          <ProblemRecords trace={shown} action={action} />
        </div>
        <div className="row wrap">
          <label className="row">
            Action
            <select aria-label="Filter by action" value={action} onChange={(event) => filter(event.target.value)}>
              <option value="">all {formatNumber(actions.length)}</option>
              {action !== "" && !actions.some(([known]) => known === action) && (
                <option value={action}>{action}</option>
              )}
              {actions.map(([known, records]) => (
                <option key={known} value={known}>
                  {known.slice(0, 80)} ({formatNumber(records)})
                </option>
              ))}
            </select>
          </label>
          <button type="button" onClick={download}>
            <Icon name="down" />
            JSON
          </button>
        </div>
      </section>
      {shown.branches.length === 0 ? (
        <Empty>No branch has this action.</Empty>
      ) : (
        <Tree key={action} forest={forest} action={action} />
      )}
    </>
  );
}

/** One line of truth: how many, and whether all is well. */
function TraceSummary({ trace }: { trace: Trace }) {
  const open = trace.branches.filter((branch) => branch.end === null).length;
  const faults = trace.orphans.length + trace.cycle.length + trace.conflicts.size + open;
  return (
    <div className="row wrap summary-line">
      <span>
        {countOf(trace.records, "record")}, {countOf(trace.branches.length, "branch", "branches")}
      </span>
      {faults === 0 && <Badge tone="good" icon="check" word="complete" />}
      {trace.orphans.length > 0 && (
        <Badge tone="bad" icon="unknown" word={countOf(trace.orphans.length, "missing parent")} />
      )}
      {trace.cycle.length > 0 && (
        <Badge tone="bad" icon="going" word={`${countOf(trace.cycle.length, "record")} in a cycle`} />
      )}
      {trace.conflicts.size > 0 && <Badge tone="warn" icon="alert" word={countOf(trace.conflicts.size, "conflict")} />}
      {open > 0 && (
        <Badge tone="warn" icon="stop" word={`${countOf(open, "branch", "branches")} without a final step`} />
      )}
    </div>
  );
}

const MOST = 100;

/** Where to look. */
function ProblemRecords({ trace, action }: { trace: Trace; action: string }) {
  const open = trace.branches.filter((branch) => branch.end === null).map((branch) => branch.leaf);
  const ids = [...new Set([...trace.orphans, ...trace.cycle, ...trace.conflicts.keys(), ...open])];
  if (ids.length === 0) return null;
  return (
    <details>
      <summary>Show the records</summary>
      <div className="record-links">
        {ids.slice(0, MOST).map((id) => (
          <Link key={id} href={address("/records", { root: trace.root, action, at: id })}>
            <Name of={id} />
          </Link>
        ))}
        {ids.length > MOST && <span className="dim">and {formatNumber(ids.length - MOST)} more</span>}
      </div>
    </details>
  );
}

function json(document: unknown): Blob {
  return new Blob([JSON.stringify(document, null, 2)], { type: "application/json" });
}
