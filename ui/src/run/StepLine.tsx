import { type ReactNode, useState } from "react";
import { Badge } from "../parts/Badge";
import { countOf } from "../parts/format";
import { Icon } from "../parts/icons";
import type { Finding, ProofStep } from "../proof/steps";

const SHOWN = 2; // findings of a step that holds; the rest on demand

/** One step of the proof: what it shows, and each comparison. */
export function StepLine({
  number,
  title,
  meaning,
  step,
  children,
}: {
  number: number;
  title: string;
  meaning: string;
  step: ProofStep;
  children?: ReactNode;
}) {
  const [all, setAll] = useState(false);
  const wrong = step.findings.filter((finding) => finding.holds !== true);
  const good = step.findings.filter((finding) => finding.holds === true);
  const shown = all ? [...wrong, ...good] : [...wrong, ...good.slice(0, Math.max(SHOWN - wrong.length, 0))];
  const left = step.findings.length - shown.length;
  return (
    <li className="step" aria-label={`${title}: ${statusText(step)}`}>
      <span className={`dot ${tone(step)}`} aria-hidden="true">
        {step.findings.length === 0 ? number : <Icon name={icon(step)} />}
      </span>
      <div className="column grow">
        <div className="row wrap">
          <h3>
            {number}. {title}
          </h3>
          <Badge tone={tone(step)} icon={icon(step)} word={statusText(step)} />
        </div>
        <p className="dim">{meaning}</p>
        {children}
        {shown.length > 0 && (
          <ul className="plain findings">
            {shown.map((finding, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: they are made at once and stay in place
              <li key={at}>
                <FindingDetails of={finding} />
              </li>
            ))}
          </ul>
        )}
        {(left > 0 || all) && good.length > SHOWN && (
          <div>
            <button type="button" className="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
              {all ? "Show fewer" : `Show ${countOf(left, "more comparison")}`}
            </button>
          </div>
        )}
      </div>
    </li>
  );
}

function FindingDetails({ of }: { of: Finding }) {
  return (
    <>
      <div className="row">
        <Badge
          tone={of.holds === null ? "warn" : of.holds ? "good" : "bad"}
          icon={of.holds === null ? "unknown" : of.holds ? "check" : "cross"}
          word={of.holds === null ? "not checked" : of.holds ? "equal" : "not equal"}
        />
        <span className="breaks">{of.what}</span>
      </div>
      <dl className="compared">
        <dt>computed</dt>
        <dd>{of.computed}</dd>
        <dt>compared with</dt>
        <dd>{of.compared}</dd>
      </dl>
    </>
  );
}

function tone(step: ProofStep) {
  if (step.findings.length === 0) return "dim";
  return step.holds === null ? "warn" : step.holds ? "good" : "bad";
}

function icon(step: ProofStep) {
  if (step.findings.length === 0) return "minus";
  return step.holds === null ? "unknown" : step.holds ? "check" : "cross";
}

function statusText(step: ProofStep): string {
  if (step.findings.length === 0) return step.name === "anchor" ? "not compared" : "not reached";
  if (step.holds === null) return "could not be checked";
  return step.holds ? "holds" : "does not hold";
}
