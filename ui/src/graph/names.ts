/** What the graph speaks of: datasets, jobs where these are ends of edges, and columns. Pure. */

import type { Schemas } from "../api/client";

export type Endpoint = Schemas["Dataset"] | Schemas["Job"];
export type Card = Schemas["Card"];
export type Link = Schemas["Link"];
export type ColumnLink = Schemas["ColumnLink"];
export type Dependency = Schemas["Dependency"];
export type Side = "up" | "down";

export const SIDES: readonly Side[] = ["up", "down"];

export function isJob(endpoint: Endpoint): endpoint is Schemas["Job"] {
  return "type" in endpoint && endpoint.type === "job";
}

/** One word for each node. A job may be called as a dataset is, and is another. */
export function nodeKey(endpoint: Endpoint): string {
  const parts = [endpoint.namespace, endpoint.name];
  return JSON.stringify(isJob(endpoint) ? [...parts, "job"] : parts);
}

export function endpointOf(key: string): Endpoint | null {
  try {
    const parts: unknown = JSON.parse(key);
    if (!Array.isArray(parts) || !parts.every((part) => typeof part === "string")) return null;
    const [namespace, name, kind] = parts as string[];
    if (namespace === undefined || name === undefined) return null;
    return kind === "job" ? { type: "job", namespace, name } : { namespace, name };
  } catch {
    return null;
  }
}

/** A column of a node; `null` is the node as a whole. */
export interface Ref {
  node: string;
  column: string | null;
}

export function refKey(node: string, column: string | null): string {
  return column === null ? node : `${node}#${column}`;
}

/** By namespace, then by name: the order in which the server cuts neighbours. */
export function byName(one: Endpoint, other: Endpoint): number {
  return (
    compare(one.namespace, other.namespace) ||
    compare(one.name, other.name) ||
    Number(isJob(one)) - Number(isJob(other))
  );
}

export function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Short and the same everywhere, so that an address can say which cards it means (FNV-1a, 32 bits). */
export function shortHash(key: string): string {
  let hash = 0x811c9dc5;
  for (let place = 0; place < key.length; place += 1) {
    hash ^= key.charCodeAt(place);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
