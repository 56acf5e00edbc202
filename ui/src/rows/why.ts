/** Why rows are missing, as the way they took: operator by operator, to the one that stopped them. Pure. */

import type { Schemas } from "../api/client";

export type WhyNotAnswer = Schemas["WhyNotRows"];
export type Culprit = WhyNotAnswer["culprits"][number];
type Survivor = WhyNotAnswer["survivors"][number];

export interface Station {
  text: string;
  kind: string;
  operator: string;
  /** null: it cannot be told. */
  rows: number | null;
  state: "passed" | "stopped" | "beyond" | "unknown";
  /** Of the one that stopped them. */
  culprit: Culprit | null;
}

export interface Way {
  occurrence: number;
  stations: Station[];
  /** What would have stopped them, had the first one not. */
  further: Culprit[];
}

/** Operators that let every row through: left out until asked for. */
const QUIET = new Set(["project", "sort", "other"]);

export function isQuiet(station: Station): boolean {
  return QUIET.has(station.kind) && station.state !== "stopped";
}

/** One way for each time the source is in the query: a table joined with itself has two. */
export function waysOf(answer: WhyNotAnswer): Way[] {
  const occurrences = [...new Set(answer.survivors.map((each) => each.occurrence))];
  return occurrences.map((occurrence) => {
    const [first, ...further] = answer.culprits.filter((each) => each.occurrence === occurrence);
    return { occurrence, stations: stationsOf(answer, occurrence, first ?? null), further };
  });
}

function stationsOf(answer: WhyNotAnswer, occurrence: number, culprit: Culprit | null): Station[] {
  const survivors = answer.survivors.filter((each) => each.occurrence === occurrence);
  const stop = survivors.findIndex((each) => each.rows === 0);
  return survivors.map((each, place) => ({
    text: each.text || each.operator,
    kind: each.kind,
    operator: each.operator,
    rows: each.rows,
    state: stateOf(each, place, stop),
    culprit: place === stop ? culprit : null,
  }));
}

function stateOf(survivor: Survivor, place: number, stop: number): Station["state"] {
  if (stop >= 0 && place > stop) return "beyond";
  if (place === stop) return "stopped";
  return survivor.rows === null ? "unknown" : "passed";
}

/** The condition of an operator with the row's values put in: "amount > 0 with amount = -3 → false". */
export function putIn(culprit: Culprit): { condition: string; values: [string, unknown][]; verdict: string } | null {
  if (!/^(filter|having|window filter)$/.test(culprit.kind)) return null;
  const verdict = / is (false or NULL|false|NULL)\b/.exec(culprit.explanation)?.[1];
  if (verdict === undefined) return null;
  const condition = culprit.text.replace(/^\S+\s/, "");
  return { condition, values: Object.entries(culprit.values ?? {}), verdict };
}
