/** A question about rows as an address, so that it can be sent. Pure. */

import type { Named } from "../app/places";

export const ASKS = ["trace", "forward", "why-not"] as const;
export type Ask = (typeof ASKS)[number];

export interface Question {
  dataset: Named;
  /** null where nobody chose: then the first that can be asked. */
  ask: Ask | null;
  condition: string;
  /** For why-not: the rows of which dataset; without its namespace, the end of its name. */
  source: { namespace: string | null; name: string } | null;
  /** Through at most so many jobs; null: to the end. */
  depth: number | null;
  /** The task that finds the answer. */
  task: string | null;
  /** The places in the tree that were followed further. */
  open: string[];
}

export function readQuestion(words: URLSearchParams): Question | null {
  const name = words.get("name");
  if (!name) return null;
  const ask = words.get("ask");
  const source = words.get("source");
  const depth = Number(words.get("depth"));
  return {
    dataset: { namespace: words.get("namespace") ?? "", name },
    ask: ASKS.find((each) => each === ask) ?? null,
    condition: words.get("condition") ?? "",
    source: source ? { namespace: words.get("source_namespace"), name: source } : null,
    depth: Number.isInteger(depth) && depth >= 1 && depth <= 100 ? depth : null,
    task: words.get("task"),
    open: (words.get("open") ?? "").split("~").filter((place) => /^\d+(\.\d+)*$/.test(place)),
  };
}

export function wordsOf(question: Question): Record<string, string | number | null> {
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
