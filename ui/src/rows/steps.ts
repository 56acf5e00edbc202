/** An answer about rows as a tree of steps, each a small table: the same shape whichever way was asked. Pure. */

import type { Schemas } from "../api/client";
import type { QualifiedName } from "../app/addresses";
import type { Row } from "./values";

type Traced = Schemas["TracedRows"];
type TracedSource = Schemas["TracedSource"];
type Forward = Schemas["ForwardRows"];

export interface JobPass {
  run: string;
  job: string;
  completed: string;
}

export interface RowStep {
  /** Its place in the tree: "0.1" is the second source of the first. */
  place: string;
  /** As the answer names it: namespace/name. */
  dataset: string;
  grain: string;
  count: number;
  rows: Row[];
  /** The runs between this table and the one before. */
  passed: JobPass[];
  notes: string[];
  /** Why it does not go on from here. */
  ends: string | null;
  /** null: not traced further. */
  next: RowStep[] | null;
}

/** The sources of an answer, step by step. */
export function stepsBack(answer: Traced | Schemas["TracedFurther"], above = ""): RowStep[] {
  return list<TracedSource>(answer.sources).map((source, place) => {
    const at = above === "" ? String(place) : `${above}.${place}`;
    return {
      place: at,
      dataset: String(source.dataset),
      grain: String(source.grain),
      ...rowsOf(source),
      passed: list<JobPass>(answer.runs),
      notes: source.from ? list<string>(source.from.notes) : [],
      ends: source.ends ?? null,
      next: source.from ? stepsBack(source.from, at) : null,
    };
  });
}

/** What rows became, step by step. */
export function stepsForward(answer: Forward, above = ""): RowStep[] {
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
      next: stepsForward(reached, at),
    };
  });
}

function rowsOf(table: { count: number; rows: Row[] }): { count: number; rows: Row[] } {
  const rows = list<Row>(table.rows);
  return { count: typeof table.count === "number" ? table.count : rows.length, rows };
}

/** What was passed before, and what is passed now, each run once. */
export function jobsPassed(before: readonly JobPass[], now: readonly JobPass[]): JobPass[] {
  const known = new Set(before.map((pass) => pass.run));
  return [...before, ...now.filter((pass) => !known.has(pass.run))];
}

/** Whether rows are shown as a later run wrote them than the one that was read: then the two need not fit. */
export function isLater(wrote: readonly JobPass[], read: readonly JobPass[]): boolean {
  const last = (passes: readonly JobPass[]) => Math.max(...passes.map((pass) => Date.parse(pass.completed)));
  return wrote.length > 0 && read.length > 0 && last(wrote) > last(read);
}

/** `namespace/name` taken apart: by the datasets that are known, else as names usually are. */
export function datasetOf(label: string, known: readonly QualifiedName[]): QualifiedName {
  const match = known.find((one) => `${one.namespace}/${one.name}` === label);
  if (match) return { namespace: match.namespace, name: match.name };
  const [, namespace = "", name = label] = /^([^/:]+:\/\/[^/]*|[^/]*)\/(.*)$/s.exec(label) ?? [];
  return { namespace, name };
}

export const GRAINS: Record<string, string> = {
  exact: "these rows and no others",
  group: "the rows that share a group or a window with it; some of them may not have contributed",
  partition: "the rows of one call of opaque code; some of them contributed",
  all: "every row of the source: which of them contributed is unknown",
  opaque: "single rows cannot be traced here",
};

function list<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}
