/** Made-up answers, for the tests of this room. */

import type { Schemas } from "../api/client";
import type { Card, ColumnLink, Dependency, Link } from "./names";
import { nodeKey } from "./names";

export const set = (name: string) => ({ namespace: "ns", name });
export const key = (name: string) => nodeKey(set(name));

export function card(name: string, upstreams = 0, downstreams = 0, more: Partial<Card> = {}): Card {
  return {
    endpoint: set(name),
    kind: "table",
    owner: null,
    tags: [],
    columns: 0,
    schema: null,
    upstreams,
    downstreams,
    latest_run: null,
    rows: null,
    complete: null,
    last_seen: null,
    ...more,
  };
}

export function link(from: string, to: string): Link {
  return { upstream: set(from), downstream: set(to), jobs: [], type: "derived_from", origin: "run" };
}

/** "a>b" is an edge; the cards count these edges unless they are given. */
export function around(edges: string[], cards: Card[] = []): Schemas["Neighbourhood"] {
  const pairs = edges.map((edge) => edge.split(">") as [string, string]);
  const names = new Set([...cards.map((one) => one.endpoint.name), ...pairs.flat()]);
  const known = new Map(cards.map((one) => [one.endpoint.name, one]));
  const many = (name: string, end: 0 | 1) =>
    new Set(pairs.filter((pair) => pair[end] === name && pair[0] !== pair[1]).map((pair) => pair[1 - end])).size;
  return {
    nodes: [...names].map((name) => known.get(name) ?? card(name, many(name, 1), many(name, 0))),
    edges: pairs.map(([from, to]) => link(from, to)),
    column_edges: null,
    as_of: null,
  };
}

/** "a.x>b.y" is a column edge; "a.x>b" leads to all of b. */
export function columnLink(text: string, dependency: Dependency = "DIRECT", logic: string | null = null): ColumnLink {
  const [from = "", to = ""] = text.split(">");
  const [upstream = "", upstreamColumn = null] = from.split(".");
  const [downstream = "", downstreamColumn = null] = to.split(".");
  return {
    upstream: set(upstream),
    upstream_column: upstreamColumn,
    downstream: set(downstream),
    downstream_column: downstreamColumn,
    job: { type: "job", namespace: "ns", name: "job" },
    dependency,
    type: "IDENTITY",
    transformation: null,
    masking: false,
    logic,
  };
}

/** The job `make` between its inputs and outputs, of which its event pairs none. */
export const hub = { type: "job" as const, namespace: "ns", name: "make (inputs 0123456789abcdef)" };

export function aroundHub(inputs: string[], outputs: string[], total = inputs.length): Schemas["Neighbourhood"] {
  const make = { type: "job" as const, namespace: "ns", name: "make" };
  const through = { jobs: [make], type: "derived_from" as const, origin: "run" as const };
  return {
    nodes: [
      ...outputs.map((name) => card(name, 1, 0)),
      { ...card("", total, outputs.length), endpoint: hub, kind: "job" },
      ...inputs.map((name) => card(name, 0, 1)),
    ],
    edges: [
      ...inputs.map((name) => ({ ...through, upstream: set(name), downstream: hub })),
      ...outputs.map((name) => ({ ...through, upstream: hub, downstream: set(name) })),
    ],
    column_edges: null,
    as_of: null,
  };
}

/** A step to "a.x", by way of the places before it. */
export function step(to: string, before: string[] = [], dependency: Dependency = "DIRECT"): Schemas["Node"] {
  const [name = "", part = null] = to.split(".");
  const label = (place: string) => `ns/${place.replace(".", "#")}`;
  return {
    endpoint: set(name),
    part,
    depth: before.length + 1,
    dependency,
    via: {
      job: { type: "job", namespace: "ns", name: "job" },
      run_id: null,
      origin: "run",
      basis: null,
      type: null,
      transformation: "IDENTITY",
      dependency,
      masking: false,
      logic: `to ${to}`,
      via_job: false,
    },
    path: [...before, to].map(label),
  };
}
