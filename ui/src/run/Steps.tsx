import { type ReactNode, useState } from "react";
import type { Schemas } from "../api/client";
import { Badge } from "../parts/Badge";
import { countOf, formatBytes, formatDuration, formatNumber } from "../parts/format";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { gapsOf, pipelineSteps, planSteps, type StepRow } from "./step-rows";

const MOST = 60; // steps shown at first

/** Its steps, each with rows and time. */
export function Steps({ detail }: { detail: Schemas["RunDetail"] }) {
  const own = pipelineSteps(detail.run_facets);
  const plans = planSteps(detail.run_facets, gapsOf(detail.outputs) ?? []).filter((group) => group.steps.length > 0);
  if (own.length === 0 && plans.length === 0) {
    if (detail.children.length > 0) return null;
    return (
      <section className="card column" aria-label="Timeline">
        <h2>Timeline</h2>
        <p className="dim">No steps recorded.</p>
      </section>
    );
  }
  return (
    <section className="card column" aria-label="Timeline">
      <h2>Timeline</h2>
      {own.length > 0 && <StepTable label="Steps of the pipeline" steps={own} />}
      {own.length === 0
        ? plans.map((group, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two writes may have one output
            <Plan key={at} output={plans.length > 1 ? group.output : null} steps={group.steps} />
          ))
        : plans.length > 0 && (
            <details>
              <summary>Spark plan</summary>
              {plans.map((group, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two writes may have one output
                <Plan key={at} output={group.output} steps={group.steps} />
              ))}
            </details>
          )}
    </section>
  );
}

function Plan({ output, steps }: { output: string | null; steps: StepRow[] }) {
  return (
    <div className="column">
      {output !== null && (
        <h3 className="row">
          to <Name of={output} />
        </h3>
      )}
      <StepTable label={output === null ? "Steps of the plan" : `Steps of the plan to ${output}`} steps={steps} plan />
    </div>
  );
}

function StepTable({ label, steps, plan = false }: { label: string; steps: StepRow[]; plan?: boolean }) {
  const [all, setAll] = useState(false);
  const shown = all ? steps : steps.slice(0, MOST);
  const longest = Math.max(1, ...steps.map((step) => step.milliseconds ?? 0));
  const most = Math.max(1, ...steps.map((step) => step.rows ?? 0));
  return (
    <div className="scroll">
      <table className="timeline" aria-label={label}>
        <thead>
          <tr>
            <th>{plan ? "Step (inputs below)" : "Step"}</th>
            <th className="number">{plan ? "Rows" : "Rows out"}</th>
            <th className="bars short">
              <span className="sr-only">Rows, as a bar</span>
            </th>
            {!plan && <th>Rows removed</th>}
            {plan && <th className="number">Size</th>}
            <th className="number">{plan ? "Time of all tasks" : "Time"}</th>
            <th className="bars">
              <span className="sr-only">Time, as a bar</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((step, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps are alike and stay in place
            <tr key={at}>
              <td className="cell-name" style={{ paddingLeft: Math.min(step.depth, 20) * 14 }}>
                <StepLabel of={step} />
              </td>
              <td className="number">{step.rows === null ? "–" : formatNumber(step.rows)}</td>
              <td className="bars short">
                <Bar of={step.rows} most={most} />
              </td>
              {!plan && <td>{removedAt(step)}</td>}
              {plan && <td className="number">{step.bytes === null ? "–" : formatBytes(step.bytes)}</td>}
              <td className="number">{step.milliseconds === null ? "–" : formatDuration(step.milliseconds)}</td>
              <td className="bars">
                <Bar of={step.milliseconds} most={longest} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < steps.length && (
        <button type="button" className="quiet" onClick={() => setAll(true)}>
          Show {countOf(steps.length - shown.length, "more step")}
        </button>
      )}
    </div>
  );
}

function StepLabel({ of }: { of: StepRow }) {
  return (
    <span className="row">
      <Name of={of.name} />
      {of.kind && <span className="dim">{of.kind}</span>}
      {of.gap !== null && (
        <span className="state warn" title={of.gap}>
          <Icon name="alert" />
          no lineage through this step
        </span>
      )}
    </span>
  );
}

function Bar({ of, most }: { of: number | null; most: number }) {
  if (of === null) return null;
  return <span className="gauge" style={{ width: `${(100 * of) / most}%` }} />;
}

function removedAt(step: StepRow): ReactNode {
  const left = [
    step.filtered ? (
      <span key="f" className="dim">
        {formatNumber(step.filtered)} filtered out
      </span>
    ) : null,
    step.deadLetters ? (
      <Badge key="d" tone="warn" icon="alert" word={countOf(step.deadLetters, "dead letter")} />
    ) : null,
    step.retried ? (
      <span key="r" className="dim">
        {formatNumber(step.retried)} retried
      </span>
    ) : null,
  ].filter((one) => one !== null);
  return left.length === 0 ? <span className="dim">–</span> : <span className="row wrap">{left}</span>;
}
