/** An answer about rows as a tree of steps, each a small table: the same shape whichever way was asked. Pure. */

import type { Schemas } from "../api/client";
import type { Named } from "../app/places";
import type { Row } from "./values";

type Traced = Schemas["TracedRows"];
type TracedSource = Schemas["TracedSource"];
type Forward = Schemas["ForwardRows"];

export interface Pass {
  run: string;
  job: string;
  completed: string;
}

export interface Step {
  /** Its place in the tree: "0.1" is the second source of the first. */
  place: string;
  /** As the answer names it: namespace/name. */
  dataset: string;
  grain: string;
  count: number;
  rows: Row[];
  /** The runs between this table and the one before. */
  passed: Pass[];
  notes: string[];
  /** Why it does not go on from here. */
  ends: string | null;
  /** null where nobody asked how it goes on. */
  next: Step[] | null;
}

/** The sources of an answer, step by step. */
export function stepsBack(answer: Traced | Schemas["TracedFurther"], above = ""): Step[] {
  return list<TracedSource>(answer.sources).map((source, place) => {
    const at = above === "" ? String(place) : `${above}.${place}`;
    return {
      place: at,
      dataset: String(source.dataset),
      grain: String(source.grain),
      ...rowsOf(source),
      passed: list<Pass>(answer.runs),
      notes: source.from ? list<string>(source.from.notes) : [],
      ends: source.ends ?? null,
      next: source.from ? stepsBack(source.from, at) : null,
    };
  });
}

/** What rows became, step by step. */
export function stepsOnward(answer: Forward, above = ""): Step[] {
  return list<Forward>(answer.reached).map((reached, place) => {
    const at = above === "" ? String(place) : `${above}.${place}`;
    return {
      place: at,
      dataset: String(reached.dataset),
      grain: reached.grain ?? "exact",
      ...rowsOf(reached),
      passed: reached.run ? [reached.run] : [],
      notes: list<string>(reached.notes),
      ends: reached.ends ?? null,
      next: stepsOnward(reached, at),
    };
  });
}

function rowsOf(told: { count: number; rows: Row[] }): { count: number; rows: Row[] } {
  const rows = list<Row>(told.rows);
  return { count: typeof told.count === "number" ? told.count : rows.length, rows };
}

/** What was passed before, and what is passed now, each run once. */
export function passing(before: readonly Pass[], now: readonly Pass[]): Pass[] {
  const known = new Set(before.map((pass) => pass.run));
  return [...before, ...now.filter((pass) => !known.has(pass.run))];
}

/** Whether rows are shown as a later run wrote them than the one that was read: then the two need not fit. */
export function isLater(wrote: readonly Pass[], read: readonly Pass[]): boolean {
  const last = (passes: readonly Pass[]) => Math.max(...passes.map((pass) => Date.parse(pass.completed)));
  return wrote.length > 0 && read.length > 0 && last(wrote) > last(read);
}

/** `namespace/name` taken apart: by the datasets that are known, else as names usually are. */
export function datasetOf(told: string, known: readonly Named[]): Named {
  const found = known.find((each) => `${each.namespace}/${each.name}` === told);
  if (found) return { namespace: found.namespace, name: found.name };
  const [, namespace = "", name = told] = /^([^/:]+:\/\/[^/]*|[^/]*)\/(.*)$/s.exec(told) ?? [];
  return { namespace, name };
}

export const GRAINS: Record<string, string> = {
  exact: "these rows and no others",
  group: "the rows that share a group or a window with it; not all of them need have had a part",
  partition: "the rows that code was given together; some of them had a part",
  all: "every row of the source: which of them had a part cannot be told",
  opaque: "nothing can be told of single rows here",
};

function list<T>(told: unknown): T[] {
  return Array.isArray(told) ? (told as T[]) : [];
}
