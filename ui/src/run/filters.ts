/** Filters of the list of runs, as the address has them. Pure. */

import type { Schemas } from "../api/client";

export const STATES: [state: Schemas["RunState"], word: string][] = [
  ["COMPLETE", "complete"],
  ["FAIL", "failed"],
  ["ABORT", "aborted"],
  ["RUNNING", "running"],
  ["START", "started"],
  ["UNKNOWN", "unknown"],
];

const HOUR = 3_600_000;
export const SPANS: [span: string, word: string, milliseconds: number][] = [
  ["1h", "the last hour", HOUR],
  ["24h", "the last 24 hours", 24 * HOUR],
  ["7d", "the last 7 days", 7 * 24 * HOUR],
  ["30d", "the last 30 days", 30 * 24 * HOUR],
];

export interface Filter {
  state: Schemas["RunState"] | null;
  job: string | null;
  namespace: string | null;
  dataset: string | null;
  datasetNamespace: string | null;
  /** One of `SPANS`, or a moment. */
  since: string | null;
}

export function filterIn(words: URLSearchParams): Filter {
  const state = words.get("state");
  const since = words.get("since");
  return {
    state: STATES.find(([known]) => known === state)?.[0] ?? null,
    job: words.get("job") || null,
    namespace: words.get("namespace") || null,
    dataset: words.get("dataset") || null,
    datasetNamespace: words.get("dataset_namespace") || null,
    since: since && sinceMoment(since, 0) !== null ? since : null,
  };
}

/** The time of a span or timestamp; null if it is neither. */
export function sinceMoment(since: string, now: number): string | null {
  const span = SPANS.find(([known]) => known === since);
  const moment = span ? now - span[2] : Date.parse(since);
  return Number.isFinite(moment) ? new Date(moment).toISOString() : null;
}

/** Two runs to compare, the earlier one first. */
export function chronological(one: Schemas["Run"], other: Schemas["Run"]): [string, string] {
  const startOf = (run: Schemas["Run"]) => Date.parse(run.started_at ?? run.last_event_at);
  return startOf(one) <= startOf(other) ? [one.run_id, other.run_id] : [other.run_id, one.run_id];
}
