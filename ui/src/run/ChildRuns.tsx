import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { to } from "../app/addresses";
import { RunState } from "../parts/Badge";
import { exactTime, formatDuration } from "../parts/format";
import { Name } from "../parts/Name";
import { durationOf } from "./figures";

/** The child runs of a run on a timeline. */
export function ChildRuns({ of }: { of: Schemas["RunDetail"] }) {
  const starts = of.children.map((child) => Date.parse(child.started_at ?? child.last_event_at));
  const ends = of.children.map((child) => Date.parse(child.ended_at ?? child.last_event_at));
  const own = of.run.started_at ? [Date.parse(of.run.started_at)] : [];
  const first = Math.min(...starts, ...own);
  const last = Math.max(...ends, ...(of.run.ended_at ? [Date.parse(of.run.ended_at)] : []));
  const whole = Math.max(last - first, 1);
  const children = [...of.children].sort((one, other) => (one.started_at ?? "").localeCompare(other.started_at ?? ""));
  return (
    <section className="card column" aria-label="Child runs">
      <h2>Child runs</h2>
      <div className="scroll">
        <table className="timeline">
          <thead>
            <tr>
              <th>Job</th>
              <th>State</th>
              <th className="number">Duration</th>
              <th className="bars">Timeline</th>
            </tr>
          </thead>
          <tbody>
            {children.map((child) => (
              <ChildRunRow key={child.run_id} of={child} first={first} whole={whole} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function ChildRunRow({ of, first, whole }: { of: Schemas["Run"]; first: number; whole: number }) {
  const start = Date.parse(of.started_at ?? of.last_event_at);
  const end = Date.parse(of.ended_at ?? of.last_event_at);
  const elapsed = durationOf(of);
  return (
    <tr>
      <td className="cell-name">
        <Link href={to.run(of.run_id)}>
          <Name of={of.job.name} />
        </Link>
      </td>
      <td>
        <RunState of={of.state} />
      </td>
      <td className="number">{elapsed === null ? "–" : formatDuration(elapsed)}</td>
      <td className="bars">
        <span
          className={`gauge ${of.state === "FAIL" ? "failed" : ""}`}
          title={`${exactTime(new Date(start))} to ${exactTime(new Date(end))}`}
          style={{ marginLeft: share(start - first, whole), width: share(end - start, whole) }}
        />
      </td>
    </tr>
  );
}

function share(part: number, whole: number): string {
  return `${Math.max(0, Math.min(100, (100 * part) / whole))}%`;
}
