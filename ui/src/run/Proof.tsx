import { useId } from "react";
import { Badge } from "../parts/Badge";
import { countOf } from "../parts/format";
import { ErrorMessage, Skeleton } from "../parts/QueryResult";
import type { ProofStep, StepName } from "../proof/steps";
import { Anchor } from "./Anchor";
import { type ProofQuery, proofStatus } from "./proof-query";
import { StepLine } from "./StepLine";

const MEANING: Record<StepName, [title: string, meaning: string]> = {
  hash: ["Hash", "Events, facets and certificates match their hashes in the log."],
  inclusion: ["Inclusion", "Each entry about this run is in the signed log."],
  checkpoint: ["Checkpoint", "The active key signed the log's size and root hash."],
  anchor: ["Anchor", "The log extends a checkpoint that was stored outside this server."],
};

/** The check of the evidence, made in front of the reader: each step says what came out and what it had to be. */
export function Proof({ proof }: { proof: ProofQuery }) {
  const title = useId();
  return (
    <section className="card column" aria-labelledby={title} id="proof">
      <div className="row apart wrap">
        <h2 id={title}>Proof, verified in this browser</h2>
        <div aria-live="polite">
          <Verdict proof={proof} />
        </div>
      </div>
      {proof.data && <HowItWorks />}
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
              step={proof.data.steps.find((step) => step.name === name) ?? notReached(name)}
            />
          ))}
          <Anchor number={4} title={MEANING.anchor[0]} meaning={MEANING.anchor[1]} proof={proof.data} />
        </ol>
      )}
    </section>
  );
}

function notReached(name: StepName): ProofStep {
  return { name, holds: null, findings: [] };
}

function Verdict({ proof }: { proof: ProofQuery }) {
  const status = proofStatus(proof);
  if (status === "holds") {
    const checked = proof.data?.steps.reduce((sum, step) => sum + step.findings.length, 0) ?? 0;
    return <Badge tone="good" icon="check" word={`verifies: ${countOf(checked, "comparison")}, all equal`} />;
  }
  if (status === "broken") return <Badge tone="bad" icon="cross" word="does not verify" />;
  if (status === "unsigned") return <Badge tone="warn" icon="alert" word="not signed yet" />;
  if (status === "checking") return <Badge tone="dim" icon="going" word="checking" />;
  if (status === "nothing") return <Badge tone="dim" icon="unknown" word="nothing to verify" />;
  return <Badge tone="warn" icon="unknown" word="not fully checked" />;
}

function NoProof({ proof }: { proof: ProofQuery }) {
  return proofStatus(proof) === "unsigned" ? (
    <p>{proof.error?.message} Until then no checkpoint covers this run.</p>
  ) : (
    <ErrorMessage error={proof.error} again={() => proof.refetch()} />
  );
}

function HowItWorks() {
  return (
    <p className="dim">
      This page downloads the evidence as one file and recomputes its hashes, inclusion proofs and signatures with the
      browser’s own cryptography. <code>headwater verify run.bundle.json</code> also checks that each invariant follows
      from its event.
    </p>
  );
}
