/** The evidence of a run as one file (`headwater-bundle/1`), read strictly: there is one spelling of it. */

import canonicalize from "canonicalize";
import { type Bytes, same, unbase64, unhex, utf8 } from "./bytes";

export const FORMAT = "headwater-bundle/1";

export class NotABundle extends Error {}

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
    throw new NotABundle("the file is not JSON");
  }
  const found = bundleOf(document);
  if (!isCanonical(document, content)) {
    throw new NotABundle("the file is not written as a bundle is: in canonical JSON, with nothing added");
  }
  return found;
}

function isCanonical(document: unknown, content: Bytes): boolean {
  try {
    return same(utf8(canonicalize(document) ?? ""), content);
  } catch {
    return false;
  }
}

function bundleOf(document: unknown): Bundle {
  if (members(document).format !== FORMAT) throw new NotABundle(`the file is not of the format ${FORMAT}`);
  const told = exactly(document, ["chain", "entries", "events", "format", "log", "run", "upstream"]);
  const log = exactly(told.log, ["checkpoint", "first", "key", "keys"]);
  const first = exactly(log.first, ["hash", "path"]);
  return {
    run: text(told.run),
    entries: list(told.entries).map(proven),
    events: list(told.events).map(received),
    chain: list(told.chain).map(proven),
    upstream: list(told.upstream).map((one) => {
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
  const told = exactly(document, ["entry", "path"]);
  return { entry: entryOf(told.entry), path: list(told.path).map(hash) };
}

function keyEntry(document: unknown): KeyEntry {
  const told = exactly(document, ["consistency", "entry", "path", "root"]);
  return {
    entry: entryOf(told.entry),
    path: list(told.path).map(hash),
    root: hash(told.root),
    consistency: list(told.consistency).map(hash),
  };
}

const TEXTS = ["event_type", "resource_type", "resource_id", "details", "previous_hash"];

function entryOf(document: unknown): Entry {
  const told = members(document);
  for (const value of Object.values(told)) {
    if (value !== null && typeof value !== "string" && !Number.isSafeInteger(value)) throw notOne();
  }
  if (TEXTS.some((name) => typeof told[name] !== "string") || typeof told.seq !== "number") throw notOne();
  return told as Entry;
}

function received(document: unknown): Received {
  const told = exactly(document, ["body", "sha256"]);
  const body = unbase64(text(told.body));
  if (body === null) throw new NotABundle("an event in the file is not Base64");
  return { body, sha256: hash(told.sha256) };
}

function hash(value: unknown): Bytes {
  const found = unhex(text(value));
  if (found?.length !== 32) throw new NotABundle("a hash in the file is not 64 hexadecimal digits");
  return found;
}

function exactly(value: unknown, names: string[]): Record<string, unknown> {
  const told = members(value);
  if (Object.keys(told).sort().join() !== names.join()) throw notOne();
  return told;
}

function members(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw notOne();
  return value as Record<string, unknown>;
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw notOne();
  return value;
}

function text(value: unknown): string {
  if (typeof value !== "string") throw notOne();
  return value;
}

function notOne(): NotABundle {
  return new NotABundle("the file does not have the members of a bundle");
}
