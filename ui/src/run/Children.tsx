import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { to } from "../app/places";
import { Name } from "../parts/Name";
import { State } from "../parts/State";
import { duration, exact } from "../parts/words";
import { lastedOf } from "./head";

/** The runs within a run, each where it lay in time. */
export function Children({ of }: { of: Schemas["RunDetail"] }) {
  const begun = of.children.map((child) => Date.parse(child.started_at ?? child.last_event_at));
  const ended = of.children.map((child) => Date.parse(child.ended_at ?? child.last_event_at));
  const own = of.run.started_at ? [Date.parse(of.run.started_at)] : [];
  const first = Math.min(...begun, ...own);
  const last = Math.max(...ended, ...(of.run.ended_at ? [Date.parse(of.run.ended_at)] : []));
  const whole = Math.max(last - first, 1);
  const children = [...of.children].sort((one, other) => (one.started_at ?? "").localeCompare(other.started_at ?? ""));
  return (
    <section className="card column" aria-label="Runs within it">
      <h2>Runs within it</h2>
      <div className="scroll">
        <table className="timeline">
          <thead>
            <tr>
              <th>Job</th>
              <th>State</th>
              <th className="number">Time</th>
              <th className="bars">When, from its start to its end</th>
            </tr>
          </thead>
          <tbody>
            {children.map((child) => (
              <Line key={child.run_id} of={child} first={first} whole={whole} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Line({ of, first, whole }: { of: Schemas["Run"]; first: number; whole: number }) {
  const start = Date.parse(of.started_at ?? of.last_event_at);
  const end = Date.parse(of.ended_at ?? of.last_event_at);
  const lasted = lastedOf(of);
  return (
    <tr>
      <td className="cell-name">
        <Link href={to.run(of.run_id)}>
          <Name of={of.job.name} />
        </Link>
      </td>
      <td>
        <State of={of.state} />
      </td>
      <td className="number">{lasted === null ? "–" : duration(lasted)}</td>
      <td className="bars">
        <span
          className={`gauge ${of.state === "FAIL" ? "failed" : ""}`}
          title={`${exact(new Date(start))} to ${exact(new Date(end))}`}
          style={{ marginLeft: share(start - first, whole), width: share(end - start, whole) }}
        />
      </td>
    </tr>
  );
}

function share(part: number, whole: number): string {
  return `${Math.max(0, Math.min(100, (100 * part) / whole))}%`;
}
