/** A question about rows as an address, so that it can be sent. Pure. */

import type { QualifiedName } from "../app/addresses";

export const QUESTION_KINDS = ["trace", "forward", "why-not"] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

export interface Question {
  dataset: QualifiedName;
  /** null: not chosen; the first available kind. */
  ask: QuestionKind | null;
  condition: string;
  /** For why-not: the rows of which dataset; without its namespace, the end of its name. */
  source: { namespace: string | null; name: string } | null;
  /** Maximum number of jobs to trace through; null: no limit. */
  depth: number | null;
  /** The task that finds the answer. */
  task: string | null;
  /** The places in the tree that were followed further. */
  open: string[];
}

export function readQuestion(params: URLSearchParams): Question | null {
  const name = params.get("name");
  if (!name) return null;
  const ask = params.get("ask");
  const source = params.get("source");
  const depth = Number(params.get("depth"));
  return {
    dataset: { namespace: params.get("namespace") ?? "", name },
    ask: QUESTION_KINDS.find((kind) => kind === ask) ?? null,
    condition: params.get("condition") ?? "",
    source: source ? { namespace: params.get("source_namespace"), name: source } : null,
    depth: Number.isInteger(depth) && depth >= 1 && depth <= 100 ? depth : null,
    task: params.get("task"),
    open: (params.get("open") ?? "").split("~").filter((place) => /^\d+(\.\d+)*$/.test(place)),
  };
}

export function questionParams(question: Question): Record<string, string | number | null> {
  return {
    ask: question.ask,
    condition: question.condition,
    source: question.source?.name ?? null,
    source_namespace: question.source?.namespace ?? null,
    depth: question.depth,
    task: question.task,
    open: question.open.join("~"),
  };
}
