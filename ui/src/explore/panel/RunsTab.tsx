import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { to } from "../../app/addresses";
import type { Endpoint } from "../../graph/names";
import { RunState } from "../../parts/Badge";
import { Empty, QueryResult } from "../../parts/QueryResult";
import { RelativeTime } from "../../parts/RelativeTime";
import type { ExplorerProps } from "../Explorer";
import { runsOf } from "../queries";

type Run = Schemas["Run"];

interface RunsTabProps extends ExplorerProps {
  about: Endpoint;
  versions: Schemas["Version"][];
}

/** Runs that read or wrote the dataset, newest first; two of them can be compared. */
export function RunsTab({ about, versions, where, move }: RunsTabProps) {
  const runs = useQuery(runsOf(about, where.at));
  const [picked, setPicked] = useState<string[]>([]);
  const wrote = new Set(versions.flatMap((version) => version.run_id ?? []));
  // The third choice takes the place of the first.
  const pick = (id: string) =>
    setPicked((now) => (now.includes(id) ? now.filter((one) => one !== id) : [...now, id].slice(-2)));
  return (
    <QueryResult of={runs} lines={6}>
      {({ items }) => {
        if (items.length === 0)
          return <Empty>No recorded run read or wrote this dataset{where.at ? " before this time" : ""}.</Empty>;
        const [before, after] = chronological(items, picked);
        const compare = () => before && after && move({ before: before.run_id, after: after.run_id });
        return (
          <div className="column">
            <div className="row wrap">
              <button type="button" disabled={!before || !after} onClick={compare}>
                Compare in graph
              </button>
              {before && after ? (
                <Link href={to.diff(before.run_id, after.run_id)}>Full comparison</Link>
              ) : (
                <span className="dim">Select two runs to compare.</span>
              )}
            </div>
            <ul className="plain list">
              {items.map((run) => (
                <RunLine
                  key={run.run_id}
                  run={run}
                  wrote={wrote.has(run.run_id)}
                  picked={picked.includes(run.run_id)}
                  pick={() => pick(run.run_id)}
                />
              ))}
            </ul>
          </div>
        );
      }}
    </QueryResult>
  );
}

/** The earlier one first. The list has the newest first. */
function chronological(items: readonly Run[], picked: readonly string[]): (Run | undefined)[] {
  const chosen = items.filter((run) => picked.includes(run.run_id));
  return chosen.length === 2 ? chosen.reverse() : [];
}

function RunLine({ run, wrote, picked, pick }: { run: Run; wrote: boolean; picked: boolean; pick: () => void }) {
  return (
    <li className="row">
      <input type="checkbox" aria-label={`Compare run ${run.run_id.slice(0, 60)}`} checked={picked} onChange={pick} />
      <Link href={to.run(run.run_id)} className="grow cut" title={run.run_id.slice(0, 200)}>
        {run.job.name.slice(0, 200)}
      </Link>
      <span className="dim">{wrote ? "wrote" : "read"}</span>
      <RunState of={run.state} />
      <span className="dim">
        <RelativeTime at={run.last_event_at} />
      </span>
    </li>
  );
}
