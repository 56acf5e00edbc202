import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import type { Tone } from "../parts/Badge";
import { countOf, formatDuration, formatNumber } from "../parts/format";
import { Icon, type IconName } from "../parts/icons";
import type { RunFigures, Sum } from "./figures";
import type { Ledger } from "./ledger";
import { type ProofQuery, type ProofStatus, proofStatus } from "./proof-query";

type SummaryPart = [tone: Tone, icon: IconName, words: string, why?: string];

const STATES: Record<string, SummaryPart> = {
  COMPLETE: ["good", "check", "complete"],
  FAIL: ["bad", "cross", "failed"],
  ABORT: ["warn", "stop", "aborted"],
  START: ["dim", "going", "started"],
  RUNNING: ["dim", "going", "running"],
};

const CERTIFICATE: Record<ProofStatus, SummaryPart> = {
  checking: ["dim", "going", "checking certificate", "This browser computes its hashes and signatures"],
  holds: ["good", "check", "certificate verifies", "Verified in this browser, step by step below"],
  broken: ["bad", "cross", "certificate does not verify", "The failing step is named below"],
  unsigned: [
    "warn",
    "alert",
    "certificate not yet in a signed checkpoint",
    "No checkpoint covers it yet: `headwater checkpoint` signs the log",
  ],
  nothing: ["dim", "unknown", "nothing to verify"],
  unchecked: ["warn", "unknown", "certificate not checked", "The reason is given below"],
};

/** The answer, before all details. */
export function RunSummary({
  run,
  head,
  proof,
  certificates,
}: {
  run: Schemas["Run"];
  head: RunFigures;
  proof: ProofQuery;
  certificates: number;
}) {
  const status = proofStatus(proof);
  const proven: SummaryPart =
    certificates > 0 || status === "broken" ? CERTIFICATE[status] : ["dim", "minus", "no certificate"];
  const parts: SummaryPart[] = [STATES[run.state] ?? ["dim", "unknown", "state unknown"], balance(head.ledger), proven];
  if (head.broken.length > 0) parts.push(["bad", "cross", `does not hold: ${head.broken.join(", ")}`]);
  if (head.deadLetters > 0) parts.push(["warn", "alert", countOf(head.deadLetters, "dead letter")]);
  return (
    <h1 className="summary-line" aria-live="polite">
      <span className="sr-only">Run of {run.job.name}: </span>
      {parts.map(([tone, icon, words, why]) => (
        <SummaryPiece key={words} tone={tone} icon={icon} why={why}>
          {words}
        </SummaryPiece>
      ))}
      <SummaryPiece tone="ink">{rows(head)}</SummaryPiece>
      <SummaryPiece tone="ink">
        {head.milliseconds === null ? "duration unknown" : formatDuration(head.milliseconds)}
      </SummaryPiece>
    </h1>
  );
}

function SummaryPiece({
  tone,
  icon,
  why,
  children,
}: {
  tone: string;
  icon?: IconName;
  why?: string;
  children: ReactNode;
}) {
  return (
    <span className={`piece ${tone}`} title={why}>
      {icon && <Icon name={icon} size={18} />}
      {children}
    </span>
  );
}

function balance(ledger: Ledger | null): SummaryPart {
  if (ledger === null) return ["dim", "minus", "no ledger", "The rows of this run were not counted by source"];
  if (ledger.balanced === false) return ["bad", "cross", "not balanced", "Some source rows are unaccounted for"];
  if (ledger.balanced === true) {
    const why = "Each row of the sources was processed, filtered out or errored";
    return ["good", "check", ledger.inNumber ? "balanced by count" : "balanced", why];
  }
  if (ledger.parts.some((part) => part.notFollowed.length > 0)) {
    return ["warn", "unknown", "balance unknown: not all sources traced", "The rows of some sources were not traced"];
  }
  return ["warn", "unknown", "balance unknown", ledger.parts.find((part) => part.partly)?.partly ?? undefined];
}

function rows({ rowsIn, rowsOut }: RunFigures): string {
  if (rowsIn === null && rowsOut === null) return "rows unknown";
  return `${sum(rowsIn)} ${rowsIn?.rows === 1 ? "row" : "rows"} in, ${sum(rowsOut)} out`;
}

function sum(sumOrNull: Sum | null): string {
  if (sumOrNull === null) return "unknown";
  return `${sumOrNull.atLeast ? "at least " : ""}${formatNumber(sumOrNull.rows)}`;
}
