/** What a check has to say for itself. */

export interface Finding {
  what: string;
  /** What came out here. */
  computed: string;
  /** The expected value and its source. */
  compared: string;
  /** Null: it could not be checked here. */
  holds: boolean | null;
}

export type StepName = "hash" | "inclusion" | "checkpoint" | "anchor";

export interface ProofStep {
  name: StepName;
  holds: boolean | null;
  findings: Finding[];
}

export function stepOf(name: StepName, findings: Finding[]): ProofStep {
  const wrong = findings.some((finding) => finding.holds === false);
  const open = findings.some((finding) => finding.holds === null);
  return { name, holds: wrong ? false : open ? null : true, findings };
}
