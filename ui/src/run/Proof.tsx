import { useId } from "react";
import { Skeleton, Wrong } from "../parts/Answer";
import { Mark } from "../parts/State";
import { counted } from "../parts/words";
import type { Step, StepName } from "../proof/steps";
import { Anchor } from "./Anchor";
import { type Proven, standingOf } from "./proving";
import { StepLine } from "./StepLine";

const MEANING: Record<StepName, [title: string, meaning: string]> = {
  hash: ["Hash", "Events, facets and certificates are what the log has hashes of."],
  inclusion: ["Inclusion", "Each entry about this run is in the log that was signed."],
  checkpoint: ["Checkpoint", "The log's size and root are signed by the key in force."],
  anchor: ["Anchor", "The log is the one that a second place knows, and only grew since."],
};

/** The check of the evidence, made in front of the reader: each step says what came out and what it had to be. */
export function Proof({ proof }: { proof: Proven }) {
  const title = useId();
  return (
    <section className="card column" aria-labelledby={title} id="proof">
      <div className="row apart wrap">
        <h2 id={title}>Proof, computed in this browser</h2>
        <div aria-live="polite">
          <Verdict proof={proof} />
        </div>
      </div>
      {proof.data && <How />}
      {proof.isPending && <Skeleton lines={4} />}
      {proof.error && <NoProof proof={proof} />}
      {proof.data && (
        <ol className="plain stepper">
          {(["hash", "inclusion", "checkpoint"] as const).map((name, at) => (
            <StepLine
              key={name}
              number={at + 1}
              title={MEANING[name][0]}
              meaning={MEANING[name][1]}
              step={proof.data.steps.find((step) => step.name === name) ?? notTaken(name)}
            />
          ))}
          <Anchor number={4} title={MEANING.anchor[0]} meaning={MEANING.anchor[1]} proof={proof.data} />
        </ol>
      )}
    </section>
  );
}

function notTaken(name: StepName): Step {
  return { name, holds: null, findings: [] };
}

function Verdict({ proof }: { proof: Proven }) {
  const standing = standingOf(proof);
  if (standing === "holds") {
    const checked = proof.data?.steps.reduce((sum, step) => sum + step.findings.length, 0) ?? 0;
    return <Mark tone="good" icon="check" word={`verifies: ${counted(checked, "comparison")}, all equal`} />;
  }
  if (standing === "broken") return <Mark tone="bad" icon="cross" word="does not verify" />;
  if (standing === "unsigned") return <Mark tone="warn" icon="alert" word="not signed yet" />;
  if (standing === "checking") return <Mark tone="dim" icon="going" word="being checked" />;
  if (standing === "nothing") return <Mark tone="dim" icon="unknown" word="nothing to verify" />;
  return <Mark tone="warn" icon="unknown" word="not all of it could be checked" />;
}

function NoProof({ proof }: { proof: Proven }) {
  return standingOf(proof) === "unsigned" ? (
    <p>{proof.error?.message} Until then there is no checkpoint that covers this run.</p>
  ) : (
    <Wrong error={proof.error} again={() => proof.refetch()} />
  );
}

function How() {
  return (
    <p className="dim">
      The evidence was fetched as one file; hashes, paths and signatures were computed again here, by the browser’s own
      cryptography. That each claim follows from its event is computed by <code>headwater verify run.bundle.json</code>,
      not here.
    </p>
  );
}
