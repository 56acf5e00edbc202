import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "wouter";
import { answer, client } from "../api/client";
import { address } from "../app/places";
import { Answer, Empty } from "../parts/Answer";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { Mark } from "../parts/State";
import { save } from "../parts/save";
import { amount, counted } from "../parts/words";
import { forestOf } from "./forest";
import { Tree } from "./Tree";
import { actionsOf, only, readTrace, type Trace } from "./trace";

interface Told {
  document: unknown;
  trace: Trace;
}

/** What became of a root: its records as a tree, and what is wrong with them. */
export function Root({ root, action, filter }: { root: string; action: string; filter: (action: string) => void }) {
  const told = useQuery({
    queryKey: ["lineage", "records", "trace", root],
    queryFn: async (): Promise<Told> => {
      const document = await answer(client.GET("/api/v1/records/trace", { params: { query: { root } } }));
      return { document, trace: readTrace(document) };
    },
    // A big root is megabytes: it is not compared with what was there before.
    structuralSharing: false,
  });
  return <Answer of={told}>{(found) => <OfRoot told={found} action={action} filter={filter} />}</Answer>;
}

function OfRoot({ told, action, filter }: { told: Told; action: string; filter: (action: string) => void }) {
  const { trace } = told;
  const actions = useMemo(() => actionsOf(trace), [trace]);
  const shown = useMemo(() => (action === "" ? trace : only(trace, action)), [trace, action]);
  const forest = useMemo(() => forestOf(shown), [shown]);
  const download = () => save(`${trace.root.replaceAll(/[^\w.-]+/g, "_").slice(0, 100)}.json`, json(told.document));
  return (
    <>
      <section className="card row wrap apart" aria-label="The root">
        <div className="column tight">
          <h2 className="root">
            <Name of={trace.root} />
          </h2>
          <Truth trace={shown} />
          <Faults trace={shown} action={action} />
        </div>
        <div className="row wrap">
          <label className="row">
            Action
            <select aria-label="Filter by action" value={action} onChange={(event) => filter(event.target.value)}>
              <option value="">all {amount(actions.length)}</option>
              {action !== "" && !actions.some(([known]) => known === action) && (
                <option value={action}>{action}</option>
              )}
              {actions.map(([known, records]) => (
                <option key={known} value={known}>
                  {known.slice(0, 80)} ({amount(records)})
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
        <Empty>On no way was this done.</Empty>
      ) : (
        <Tree key={action} forest={forest} action={action} />
      )}
    </>
  );
}

/** One line of truth: how many, and whether all is well. */
function Truth({ trace }: { trace: Trace }) {
  const open = trace.branches.filter((branch) => branch.end === null).length;
  const faults = trace.orphans.length + trace.cycle.length + trace.conflicts.size + open;
  return (
    <div className="row wrap truth">
      <span>
        {counted(trace.records, "record")}, {counted(trace.branches.length, "branch", "branches")}
      </span>
      {faults === 0 && <Mark tone="good" icon="check" word="whole" />}
      {trace.orphans.length > 0 && (
        <Mark tone="bad" icon="unknown" word={counted(trace.orphans.length, "missing parent")} />
      )}
      {trace.cycle.length > 0 && (
        <Mark tone="bad" icon="going" word={`${counted(trace.cycle.length, "record")} in a cycle`} />
      )}
      {trace.conflicts.size > 0 && <Mark tone="warn" icon="alert" word={counted(trace.conflicts.size, "conflict")} />}
      {open > 0 && <Mark tone="warn" icon="stop" word={`${counted(open, "branch", "branches")} without end`} />}
    </div>
  );
}

const MOST = 100;

/** Where to look. */
function Faults({ trace, action }: { trace: Trace; action: string }) {
  const open = trace.branches.filter((branch) => branch.end === null).map((branch) => branch.leaf);
  const ids = [...new Set([...trace.orphans, ...trace.cycle, ...trace.conflicts.keys(), ...open])];
  if (ids.length === 0) return null;
  return (
    <details>
      <summary>Show where</summary>
      <div className="faults">
        {ids.slice(0, MOST).map((id) => (
          <Link key={id} href={address("/records", { root: trace.root, action, at: id })}>
            <Name of={id} />
          </Link>
        ))}
        {ids.length > MOST && <span className="dim">and {amount(ids.length - MOST)} more</span>}
      </div>
    </details>
  );
}

function json(document: unknown): Blob {
  return new Blob([JSON.stringify(document, null, 2)], { type: "application/json" });
}
