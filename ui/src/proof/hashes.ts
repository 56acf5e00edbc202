/** What each thing in a bundle is known by. */

import canonicalize from "canonicalize";
import type { Entry } from "./bundle";
import { type Bytes, hex, sha256, utf8 } from "./bytes";
import { type Json, parse, sortedJson, toPlainJson } from "./json";

export function entryHash(entry: Entry): Promise<Bytes> {
  return sha256(utf8(canonicalize(entry) ?? ""));
}

/** A certificate is the text in its entry, as it is. */
export function certificateHash(entry: Entry): Promise<Bytes> {
  return sha256(utf8(entry.details));
}

/** An event by its content, however it was spelled. Throws a SyntaxError where it is not JSON. */
export async function eventDigest(content: Json): Promise<string> {
  return `sha256:${hex(await sha256(utf8(sortedJson(content))))}`;
}

export function readEvent(body: Bytes): Json {
  return parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
}

/** A facet's hash in the same form as the one it is compared with; null where that form is not known here. */
export async function facetDigest(facet: Json, like: string): Promise<string | null> {
  const label = like.split(":", 1)[0];
  const content =
    label === "sha256-rfc8785" ? canonicalJson(facet) : label === "sha256-json" ? sortedJson(facet) : null;
  return content === null ? null : `${label}:${hex(await sha256(utf8(content)))}`;
}

function canonicalJson(value: Json): string | null {
  try {
    return canonicalize(toPlainJson(value)) ?? null;
  } catch {
    return null;
  }
}
