/** The evidence of a run as one file (`headwater-bundle/1`), read strictly: there is one spelling of it. */

import canonicalize from "canonicalize";
import { type Bytes, isEqual, unbase64, unhex, utf8 } from "./bytes";

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

export interface ProvenEntry {
  entry: Entry;
  path: Bytes[];
}

export interface KeyEntry extends ProvenEntry {
  root: Bytes;
  consistency: Bytes[];
}

export interface ReceivedEvent {
  body: Bytes;
  sha256: Bytes;
}

export interface Bundle {
  run: string;
  entries: ProvenEntry[];
  events: ReceivedEvent[];
  chain: ProvenEntry[];
  upstream: { certificate: ProvenEntry; event: ReceivedEvent }[];
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
  const result = readMembers(document);
  if (!isCanonical(document, content)) {
    throw new InvalidBundle("the file is not canonical JSON (RFC 8785)");
  }
  return result;
}

function isCanonical(document: unknown, content: Bytes): boolean {
  try {
    return isEqual(utf8(canonicalize(document) ?? ""), content);
  } catch {
    return false;
  }
}

function readMembers(document: unknown): Bundle {
  if (members(document).format !== FORMAT) throw new InvalidBundle(`the file's format is not ${FORMAT}`);
  const fields = withExactKeys(document, ["chain", "entries", "events", "format", "log", "run", "upstream"]);
  const log = withExactKeys(fields.log, ["checkpoint", "first", "key", "keys"]);
  const first = withExactKeys(log.first, ["hash", "path"]);
  return {
    run: text(fields.run),
    entries: list(fields.entries).map(readProvenEntry),
    events: list(fields.events).map(readReceivedEvent),
    chain: list(fields.chain).map(readProvenEntry),
    upstream: list(fields.upstream).map((one) => {
      const { certificate, event } = withExactKeys(one, ["certificate", "event"]);
      return { certificate: readProvenEntry(certificate), event: readReceivedEvent(event) };
    }),
    checkpoint: text(log.checkpoint),
    first: { hash: hash(first.hash), path: list(first.path).map(hash) },
    key: text(log.key),
    keys: list(log.keys).map(readKeyEntry),
  };
}

function readProvenEntry(document: unknown): ProvenEntry {
  const fields = withExactKeys(document, ["entry", "path"]);
  return { entry: readEntry(fields.entry), path: list(fields.path).map(hash) };
}

function readKeyEntry(document: unknown): KeyEntry {
  const fields = withExactKeys(document, ["consistency", "entry", "path", "root"]);
  return {
    entry: readEntry(fields.entry),
    path: list(fields.path).map(hash),
    root: hash(fields.root),
    consistency: list(fields.consistency).map(hash),
  };
}

const TEXTS = ["event_type", "resource_type", "resource_id", "details", "previous_hash"];

function readEntry(document: unknown): Entry {
  const fields = members(document);
  for (const value of Object.values(fields)) {
    if (value !== null && typeof value !== "string" && !Number.isSafeInteger(value)) throw malformed();
  }
  if (TEXTS.some((name) => typeof fields[name] !== "string") || typeof fields.seq !== "number") throw malformed();
  return fields as Entry;
}

function readReceivedEvent(document: unknown): ReceivedEvent {
  const fields = withExactKeys(document, ["body", "sha256"]);
  const body = unbase64(text(fields.body));
  if (body === null) throw new InvalidBundle("an event in the file is not Base64");
  return { body, sha256: hash(fields.sha256) };
}

function hash(value: unknown): Bytes {
  const result = unhex(text(value));
  if (result?.length !== 32) throw new InvalidBundle("a hash in the file is not 64 hexadecimal digits");
  return result;
}

function withExactKeys(value: unknown, names: string[]): Record<string, unknown> {
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
