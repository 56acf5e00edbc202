/** The explorer's state is its address: what is shown can be sent, and the back button undoes. */

import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";
import { type Endpoint, endpointOf, nodeKey } from "../graph/names";
import { readShape, type Shape, writeShape } from "../graph/shape";

export interface Where {
  root: Endpoint | null;
  /** The card that the panel tells of; the root unless another is chosen. */
  on: Endpoint | null;
  column: string | null;
  /** Whose column is lit; the root's unless told. It stays lit while other cards are looked at. */
  of: Endpoint | null;
  at: string | null;
  hops: number;
  shape: Shape;
  tab: string | null;
  partition: string | null;
  before: string | null;
  after: string | null;
  /** All that would break is in the picture. */
  impact: boolean;
}

export type Move = Partial<{
  root: Endpoint;
  on: Endpoint | null;
  column: string | null;
  of: Endpoint | null;
  at: string | null;
  hops: number;
  shape: Shape;
  tab: string | null;
  partition: string | null;
  before: string | null;
  after: string | null;
  impact: boolean;
}>;

const WORDS: Record<string, (value: unknown) => string | null> = {
  on: (value) => (value === null ? null : nodeKey(value as Endpoint)),
  of: (value) => (value === null ? null : nodeKey(value as Endpoint)),
  hops: (value) => (value === 1 ? null : String(value)),
  shape: (value) => writeShape(value as Shape),
  impact: (value) => (value ? "all" : null),
};
const NAMES: Record<string, string> = { shape: "shown" };

export function useWhere(): [Where, (move: Move, replace?: boolean) => void] {
  const [words, setWords] = useSearchParams();
  const text = words.toString();
  const where = useMemo(() => read(new URLSearchParams(text)), [text]);
  const move = useCallback(
    (change: Move, replace = false) => setWords((now) => moved(now, change), { replace }),
    [setWords],
  );
  return [where, move];
}

export function read(words: URLSearchParams): Where {
  const [namespace, name] = [words.get("namespace"), words.get("name")];
  const root = namespace !== null && name !== null ? { namespace, name } : null;
  const hops = Number(words.get("hops") ?? 1);
  return {
    root,
    on: endpointOf(words.get("on") ?? "") ?? root,
    column: words.get("column"),
    of: endpointOf(words.get("of") ?? "") ?? root,
    at: moment(words.get("at")),
    hops: hops === 2 || hops === 3 ? hops : 1,
    shape: readShape(words.get("shown")),
    tab: words.get("tab"),
    partition: words.get("partition"),
    before: words.get("before"),
    after: words.get("after"),
    impact: words.get("impact") === "all",
  };
}

/** The lit column, if it is one of the card that the panel tells of. */
export function columnOn({ on, of, column }: Where): string | null {
  return on !== null && of !== null && nodeKey(on) === nodeKey(of) ? column : null;
}

export function moved(now: URLSearchParams, change: Move): URLSearchParams {
  const words = new URLSearchParams(now);
  const { root, ...rest } = change;
  if (root) {
    // Another place to start from: what was opened around the former one is not carried over.
    for (const word of ["on", "column", "of", "shown", "partition", "before", "after", "impact"]) words.delete(word);
    words.set("namespace", root.namespace);
    words.set("name", root.name);
  }
  for (const [key, value] of Object.entries(rest)) {
    const word = WORDS[key]?.(value) ?? (key in WORDS ? null : (value as string | null));
    const name = NAMES[key] ?? key;
    if (word === null || word === undefined || word === "") words.delete(name);
    else words.set(name, word);
  }
  return words;
}

/** What is no moment is none: an address may have been typed. */
function moment(text: string | null): string | null {
  return text !== null && !Number.isNaN(new Date(text).getTime()) ? text : null;
}
