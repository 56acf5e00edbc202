/** The evidence of a run as one file (`headwater-bundle/1`), read strictly: there is one spelling of it. */

import canonicalize from "canonicalize";
import { type Bytes, same, unbase64, unhex, utf8 } from "./bytes";

export const FORMAT = "headwater-bundle/1";

export class InvalidBundle extends Error {}

type Scalar = string | number | null;

/** An entry of the log, as it is hashed. */
export interface Entry {
  seq: number;
  event_type: string;
  resource_type: string;
  resource_id: string;
  details: string;
  previous_hash: string;
  [column: string]: Scalar;
}

export interface Proven {
  entry: Entry;
  path: Bytes[];
}

export interface KeyEntry extends Proven {
  root: Bytes;
  consistency: Bytes[];
}

export interface Received {
  body: Bytes;
  sha256: Bytes;
}

export interface Bundle {
  run: string;
  entries: Proven[];
  events: Received[];
  chain: Proven[];
  upstream: { certificate: Proven; event: Received }[];
  checkpoint: string;
  first: { hash: Bytes; path: Bytes[] };
  key: string;
  keys: KeyEntry[];
}

export function readBundle(content: Bytes): Bundle {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content));
  } catch {
    throw new InvalidBundle("the file is not JSON");
  }
  const result = bundleOf(document);
  if (!isCanonical(document, content)) {
    throw new InvalidBundle("the file is not canonical JSON (RFC 8785)");
  }
  return result;
}

function isCanonical(document: unknown, content: Bytes): boolean {
  try {
    return same(utf8(canonicalize(document) ?? ""), content);
  } catch {
    return false;
  }
}

function bundleOf(document: unknown): Bundle {
  if (members(document).format !== FORMAT) throw new InvalidBundle(`the file's format is not ${FORMAT}`);
  const fields = exactly(document, ["chain", "entries", "events", "format", "log", "run", "upstream"]);
  const log = exactly(fields.log, ["checkpoint", "first", "key", "keys"]);
  const first = exactly(log.first, ["hash", "path"]);
  return {
    run: text(fields.run),
    entries: list(fields.entries).map(proven),
    events: list(fields.events).map(received),
    chain: list(fields.chain).map(proven),
    upstream: list(fields.upstream).map((one) => {
      const { certificate, event } = exactly(one, ["certificate", "event"]);
      return { certificate: proven(certificate), event: received(event) };
    }),
    checkpoint: text(log.checkpoint),
    first: { hash: hash(first.hash), path: list(first.path).map(hash) },
    key: text(log.key),
    keys: list(log.keys).map(keyEntry),
  };
}

function proven(document: unknown): Proven {
  const fields = exactly(document, ["entry", "path"]);
  return { entry: entryOf(fields.entry), path: list(fields.path).map(hash) };
}

function keyEntry(document: unknown): KeyEntry {
  const fields = exactly(document, ["consistency", "entry", "path", "root"]);
  return {
    entry: entryOf(fields.entry),
    path: list(fields.path).map(hash),
    root: hash(fields.root),
    consistency: list(fields.consistency).map(hash),
  };
}

const TEXTS = ["event_type", "resource_type", "resource_id", "details", "previous_hash"];

function entryOf(document: unknown): Entry {
  const fields = members(document);
  for (const value of Object.values(fields)) {
    if (value !== null && typeof value !== "string" && !Number.isSafeInteger(value)) throw malformed();
  }
  if (TEXTS.some((name) => typeof fields[name] !== "string") || typeof fields.seq !== "number") throw malformed();
  return fields as Entry;
}

function received(document: unknown): Received {
  const fields = exactly(document, ["body", "sha256"]);
  const body = unbase64(text(fields.body));
  if (body === null) throw new InvalidBundle("an event in the file is not Base64");
  return { body, sha256: hash(fields.sha256) };
}

function hash(value: unknown): Bytes {
  const result = unhex(text(value));
  if (result?.length !== 32) throw new InvalidBundle("a hash in the file is not 64 hexadecimal digits");
  return result;
}

function exactly(value: unknown, names: string[]): Record<string, unknown> {
  const fields = members(value);
  if (Object.keys(fields).sort().join() !== names.join()) throw malformed();
  return fields;
}

function members(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed();
  return value as Record<string, unknown>;
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw malformed();
  return value;
}

function text(value: unknown): string {
  if (typeof value !== "string") throw malformed();
  return value;
}

function malformed(): InvalidBundle {
  return new InvalidBundle("the file does not have the members of a bundle");
}
