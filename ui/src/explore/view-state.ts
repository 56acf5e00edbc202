/** The explorer's state is its address: what is shown can be sent, and the back button undoes. */

import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";
import { type Expansion, readExpansion, writeExpansion } from "../graph/expansion";
import { type Endpoint, endpointOf, nodeKey } from "../graph/names";

export interface ViewState {
  root: Endpoint | null;
  /** The card that the panel describes; the root by default. */
  on: Endpoint | null;
  column: string | null;
  /** The dataset of the highlighted column; the root by default. It stays highlighted while other cards are selected. */
  of: Endpoint | null;
  at: string | null;
  hops: number;
  shape: Expansion;
  tab: string | null;
  partition: string | null;
  before: string | null;
  after: string | null;
  /** All that would break is in the picture. */
  impact: boolean;
}

export type ViewChange = Partial<{
  root: Endpoint;
  on: Endpoint | null;
  column: string | null;
  of: Endpoint | null;
  at: string | null;
  hops: number;
  shape: Expansion;
  tab: string | null;
  partition: string | null;
  before: string | null;
  after: string | null;
  impact: boolean;
}>;

const SERIALIZERS: Record<string, (value: unknown) => string | null> = {
  on: (value) => (value === null ? null : nodeKey(value as Endpoint)),
  of: (value) => (value === null ? null : nodeKey(value as Endpoint)),
  hops: (value) => (value === 1 ? null : String(value)),
  shape: (value) => writeExpansion(value as Expansion),
  impact: (value) => (value ? "all" : null),
};
const PARAM_NAMES: Record<string, string> = { shape: "shown" };

export function useViewState(): [ViewState, (move: ViewChange, replace?: boolean) => void] {
  const [params, setParams] = useSearchParams();
  const text = params.toString();
  const where = useMemo(() => readViewState(new URLSearchParams(text)), [text]);
  const move = useCallback(
    (change: ViewChange, replace = false) => setParams((now) => applyChange(now, change), { replace }),
    [setParams],
  );
  return [where, move];
}

export function readViewState(params: URLSearchParams): ViewState {
  const [namespace, name] = [params.get("namespace"), params.get("name")];
  const root = namespace !== null && name !== null ? { namespace, name } : null;
  const hops = Number(params.get("hops") ?? 1);
  return {
    root,
    on: endpointOf(params.get("on") ?? "") ?? root,
    column: params.get("column"),
    of: endpointOf(params.get("of") ?? "") ?? root,
    at: moment(params.get("at")),
    hops: hops === 2 || hops === 3 ? hops : 1,
    shape: readExpansion(params.get("shown")),
    tab: params.get("tab"),
    partition: params.get("partition"),
    before: params.get("before"),
    after: params.get("after"),
    impact: params.get("impact") === "all",
  };
}

/** The highlighted column, if it belongs to the card that the panel describes. */
export function columnOn({ on, of, column }: ViewState): string | null {
  return on !== null && of !== null && nodeKey(on) === nodeKey(of) ? column : null;
}

export function applyChange(now: URLSearchParams, change: ViewChange): URLSearchParams {
  const params = new URLSearchParams(now);
  const { root, ...rest } = change;
  if (root) {
    // Another place to start from: what was opened around the former one is not carried over.
    for (const word of ["on", "column", "of", "shown", "partition", "before", "after", "impact"]) params.delete(word);
    params.set("namespace", root.namespace);
    params.set("name", root.name);
  }
  for (const [key, value] of Object.entries(rest)) {
    const word = SERIALIZERS[key]?.(value) ?? (key in SERIALIZERS ? null : (value as string | null));
    const name = PARAM_NAMES[key] ?? key;
    if (word === null || word === undefined || word === "") params.delete(name);
    else params.set(name, word);
  }
  return params;
}

/** Null for an invalid time: the reader may have typed the address. */
function moment(text: string | null): string | null {
  return text !== null && !Number.isNaN(new Date(text).getTime()) ? text : null;
}
