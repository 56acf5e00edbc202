import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { to } from "../app/addresses";
import { RunState } from "../parts/Badge";
import { exactTime, formatDuration } from "../parts/format";
import { Name } from "../parts/Name";
import { RelativeTime } from "../parts/RelativeTime";
import { durationOf } from "./figures";

type Run = Schemas["Run"];

export function RunTable({ runs, picked, pick }: { runs: Run[]; picked: Run[]; pick: (run: Run) => void }) {
  return (
    <div className="card scroll">
      <table className="runs" aria-label="Runs, the newest first">
        <thead>
          <tr>
            <th className="tick">
              <span className="sr-only">Compare</span>
            </th>
            <th>State</th>
            <th>Job</th>
            <th>Namespace</th>
            <th>Started</th>
            <th className="number">Duration</th>
            <th>Run</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.run_id} run={run} picked={picked.some((one) => one.run_id === run.run_id)} pick={pick} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RunRow({ run, picked, pick }: { run: Run; picked: boolean; pick: (run: Run) => void }) {
  const elapsed = durationOf(run);
  const started = run.started_at ?? run.last_event_at;
  return (
    <tr className={picked ? "selected" : undefined}>
      <td className="tick">
        <input
          type="checkbox"
          checked={picked}
          onChange={() => pick(run)}
          aria-label={`Compare ${run.job.name} of ${exactTime(started)}`}
        />
      </td>
      <td>
        <RunState of={run.state} />
      </td>
      <td className="cell-name">
        <Link href={to.job(run.job)} title="Runs of this job">
          <Name of={run.job.name} />
        </Link>
        {run.parent_run_id && (
          <Link href={to.run(run.parent_run_id)} className="parent-run">
            parent run
          </Link>
        )}
      </td>
      <td className="cell-name dim">
        <Name of={run.job.namespace} />
      </td>
      <td className="nowrap">
        <RelativeTime at={started} />
      </td>
      <td className="number nowrap">{elapsed === null ? "–" : formatDuration(elapsed)}</td>
      <td className="cell-name">
        <Link href={to.run(run.run_id)} aria-label={`Run ${run.run_id}`}>
          <Name of={run.run_id} />
        </Link>
      </td>
    </tr>
  );
}
