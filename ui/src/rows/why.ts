/** Why rows are missing, as the way they took: operator by operator, to the one that stopped them. Pure. */

import type { Schemas } from "../api/client";

export type WhyNotAnswer = Schemas["WhyNotRows"];
export type Culprit = WhyNotAnswer["culprits"][number];
type Survivor = WhyNotAnswer["survivors"][number];

export interface OperatorState {
  text: string;
  kind: string;
  operator: string;
  /** null: unknown. */
  rows: number | null;
  state: "passed" | "stopped" | "beyond" | "unknown";
  /** Of the one that stopped them. */
  culprit: Culprit | null;
}

export interface OperatorPath {
  occurrence: number;
  operators: OperatorState[];
  /** What would have stopped them, had the first one not. */
  further: Culprit[];
}

/** Operators that keep every row: hidden by default. */
const QUIET = new Set(["project", "sort", "other"]);

export function isQuiet(station: OperatorState): boolean {
  return QUIET.has(station.kind) && station.state !== "stopped";
}

/** One way for each time the source is in the query: a table joined with itself has two. */
export function operatorPaths(answer: WhyNotAnswer): OperatorPath[] {
  const occurrences = [...new Set(answer.survivors.map((entry) => entry.occurrence))];
  return occurrences.map((occurrence) => {
    const [first, ...further] = answer.culprits.filter((entry) => entry.occurrence === occurrence);
    return { occurrence, operators: operatorStates(answer, occurrence, first ?? null), further };
  });
}

function operatorStates(answer: WhyNotAnswer, occurrence: number, culprit: Culprit | null): OperatorState[] {
  const survivors = answer.survivors.filter((entry) => entry.occurrence === occurrence);
  const stop = survivors.findIndex((entry) => entry.rows === 0);
  return survivors.map((entry, place) => ({
    text: entry.text || entry.operator,
    kind: entry.kind,
    operator: entry.operator,
    rows: entry.rows,
    state: stateOf(entry, place, stop),
    culprit: place === stop ? culprit : null,
  }));
}

function stateOf(survivor: Survivor, place: number, stop: number): OperatorState["state"] {
  if (stop >= 0 && place > stop) return "beyond";
  if (place === stop) return "stopped";
  return survivor.rows === null ? "unknown" : "passed";
}

/** The condition of an operator with the row's values put in: "amount > 0 with amount = -3 → false". */
export function withRowValues(
  culprit: Culprit,
): { condition: string; values: [string, unknown][]; verdict: string } | null {
  if (!/^(filter|having|window filter)$/.test(culprit.kind)) return null;
  const verdict = / is (false or NULL|false|NULL)\b/.exec(culprit.explanation)?.[1];
  if (verdict === undefined) return null;
  const condition = culprit.text.replace(/^\S+\s/, "");
  return { condition, values: Object.entries(culprit.values ?? {}), verdict };
}
