import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { Icon, type IconName } from "../parts/icons";
import { amount, counted, duration } from "../parts/words";
import type { Head, Sum } from "./head";
import type { Ledger } from "./ledger";
import { type Proven, type Standing, standingOf } from "./proving";

type Tone = "good" | "warn" | "bad" | "dim";
type Said = [tone: Tone, icon: IconName, words: string, why?: string];

const STATES: Record<string, Said> = {
  COMPLETE: ["good", "check", "complete"],
  FAIL: ["bad", "cross", "failed"],
  ABORT: ["warn", "stop", "aborted"],
  START: ["dim", "going", "started"],
  RUNNING: ["dim", "going", "running"],
};

const CERTIFICATE: Record<Standing, Said> = {
  checking: ["dim", "going", "certificate being checked", "Its hashes and signatures are computed in this browser"],
  holds: ["good", "check", "certificate verifies", "Computed in this browser, step by step below"],
  broken: ["bad", "cross", "certificate does not verify", "The step that fails is named below"],
  unsigned: [
    "warn",
    "alert",
    "certificate not signed yet",
    "The log was not signed since: `headwater checkpoint` signs it",
  ],
  nothing: ["dim", "unknown", "nothing to verify"],
  unchecked: ["warn", "unknown", "certificate not checked", "Why is said below"],
};

/** The answer, before all details. */
export function Truth({
  run,
  head,
  proof,
  certificates,
}: {
  run: Schemas["Run"];
  head: Head;
  proof: Proven;
  certificates: number;
}) {
  const standing = standingOf(proof);
  const proven: Said =
    certificates > 0 || standing === "broken" ? CERTIFICATE[standing] : ["dim", "minus", "no certificate"];
  const parts: Said[] = [STATES[run.state] ?? ["dim", "unknown", "state unknown"], balance(head.ledger), proven];
  if (head.broken.length > 0) parts.push(["bad", "cross", `does not hold: ${head.broken.join(", ")}`]);
  if (head.deadLetters > 0) parts.push(["warn", "alert", counted(head.deadLetters, "dead letter")]);
  return (
    <h1 className="truth" aria-live="polite">
      <span className="sr-only">Run of {run.job.name}: </span>
      {parts.map(([tone, icon, words, why]) => (
        <Piece key={words} tone={tone} icon={icon} why={why}>
          {words}
        </Piece>
      ))}
      <Piece tone="ink">{rows(head)}</Piece>
      <Piece tone="ink">{head.milliseconds === null ? "duration unknown" : duration(head.milliseconds)}</Piece>
    </h1>
  );
}

function Piece({ tone, icon, why, children }: { tone: string; icon?: IconName; why?: string; children: ReactNode }) {
  return (
    <span className={`piece ${tone}`} title={why}>
      {icon && <Icon name={icon} size={18} />}
      {children}
    </span>
  );
}

function balance(ledger: Ledger | null): Said {
  if (ledger === null) return ["dim", "minus", "no ledger", "Its rows were not counted against its sources"];
  if (ledger.balanced === false)
    return ["bad", "cross", "not balanced", "Rows of the sources are not all accounted for"];
  if (ledger.balanced === true) {
    const why = "Each row of the sources was processed, filtered out or errored";
    return ["good", "check", ledger.inNumber ? "balanced in number" : "balanced", why];
  }
  if (ledger.parts.some((part) => part.notFollowed.length > 0)) {
    return ["warn", "unknown", "balance unknown: not all followed", "Some sources' rows were not followed"];
  }
  return ["warn", "unknown", "balance unknown", ledger.parts.find((part) => part.partly)?.partly ?? undefined];
}

function rows({ rowsIn, rowsOut }: Head): string {
  if (rowsIn === null && rowsOut === null) return "rows unknown";
  return `${sum(rowsIn)} ${rowsIn?.rows === 1 ? "row" : "rows"} in, ${sum(rowsOut)} out`;
}

function sum(told: Sum | null): string {
  if (told === null) return "unknown";
  return `${told.atLeast ? "at least " : ""}${amount(told.rows)}`;
}
