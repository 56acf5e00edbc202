/** The first step: events and certificates against the entries that the log has of them. */

import type { Bundle, ProvenEntry, ReceivedEvent } from "./bundle";
import { hex, isEqual, sha256 } from "./bytes";
import { certificateHash, entryHash, eventDigest, facetDigest, readEvent } from "./hashes";
import type { Json } from "./json";
import { type Finding, type ProofStep, stepOf } from "./steps";

export const INGESTED = "event.ingested";
export const ISSUED = "certificate.issued";

/** What is read of a certificate here. */
export interface Document {
  certificateId: string;
  eventDigest: string;
  number: number;
  namespace: string;
  runId: string;
  previousCertificateHash: string | null;
  evidenceHashes: Record<string, string>;
}

/** `shown`: the hashes of certificates that the reader was shown, by their ids. */
export async function checkHashes(bundle: Bundle, shown: Record<string, string>): Promise<ProofStep> {
  const findings: Finding[] = [];
  const ofEvents: Finding[] = [];
  const events = await checkEvents(bundle, ofEvents);
  // The certificates come first: they are what a reader looks for.
  await checkCertificates(bundle, events, shown, findings);
  findings.push(...ofEvents);
  await checkLinks(bundle, findings);
  for (const [at, one] of bundle.upstream.entries()) {
    const what = `Event of an upstream run, ${at + 1}`;
    const digest = await digestOf(one.event, what, findings);
    const document = documentIn(one.certificate);
    const wanted = document?.eventDigest ?? "";
    if (digest) findings.push(compareText(what, digest.digest, wanted, "in its certificate"));
    if (digest && document) await checkFacets(document, digest.content, findings);
  }
  return stepOf("hash", findings);
}

/** The events by digest, each compared with its entry. */
async function checkEvents(bundle: Bundle, findings: Finding[]): Promise<Map<string, Json>> {
  const result = new Map<string, Json>();
  const entries = bundle.entries.filter(({ entry }) => entry.event_type === INGESTED);
  for (const [at, { entry }] of entries.entries()) {
    const what = `Event ${at + 1} (entry ${entry.seq})`;
    const received = bundle.events[at];
    if (received === undefined) {
      findings.push({ what, computed: "it is missing", compared: "one event for each event entry", holds: false });
      continue;
    }
    const event = await digestOf(received, what, findings);
    if (event === null) continue;
    findings.push(compareText(what, event.digest, parseObject(entry.details).digest, "in its entry of the log"));
    const about = valueAt(event.content, "run", "runId");
    if (about !== bundle.run) findings.push(compareText(`${what}: its run`, String(about), bundle.run, "in the file"));
    result.set(event.digest, event.content);
  }
  if (bundle.events.length > entries.length || entries.length === 0) {
    const what = "Events";
    const computed = `${bundle.events.length} in the file`;
    findings.push({ what, computed, compared: `${entries.length} entries of events`, holds: false });
  }
  return result;
}

async function digestOf(received: ReceivedEvent, what: string, findings: Finding[]) {
  const bytes = await sha256(received.body);
  if (!isEqual(bytes, received.sha256)) {
    findings.push(compareText(`${what}: its bytes`, hex(bytes), hex(received.sha256), "stated in the file"));
  }
  try {
    const content = readEvent(received.body);
    return { content, digest: await eventDigest(content) };
  } catch {
    findings.push({ what, computed: "it is not JSON", compared: "an event", holds: false });
    return null;
  }
}

/** Each entry names the hash of the one before: where both are in the file, that can be seen. */
async function checkLinks(bundle: Bundle, findings: Finding[]): Promise<void> {
  for (const [at, { entry }] of bundle.entries.entries()) {
    if (entry.resource_type !== "run" || entry.resource_id !== bundle.run) {
      const computed = `about ${entry.resource_type} ${entry.resource_id}`;
      findings.push({ what: `Entry ${entry.seq}`, computed, compared: `about run ${bundle.run}`, holds: false });
    }
    const before = bundle.entries[at - 1]?.entry;
    if (before === undefined) continue;
    if (before.seq >= entry.seq) {
      const order = { computed: `after entry ${before.seq}`, compared: "ascending entry numbers" };
      findings.push({ what: `Entry ${entry.seq}`, ...order, holds: false });
    } else if (before.seq === entry.seq - 1) {
      const computed = hex(await entryHash(before));
      findings.push(
        compareText(`Entry ${before.seq}`, computed, entry.previous_hash, `in entry ${entry.seq}, the next one`),
      );
    }
  }
}

async function checkCertificates(
  bundle: Bundle,
  events: Map<string, Json>,
  shown: Record<string, string>,
  findings: Finding[],
): Promise<void> {
  const earlier = new Map<string, Document | null>();
  for (const proven of bundle.chain) earlier.set(hex(await certificateHash(proven.entry)), documentIn(proven));
  for (const proven of bundle.entries) {
    if (proven.entry.event_type !== ISSUED) continue;
    const document = documentIn(proven);
    const what = `Certificate in entry ${proven.entry.seq}`;
    if (document === null) {
      findings.push({ what, computed: "it cannot be read", compared: "a certificate", holds: false });
      continue;
    }
    const hash = hex(await certificateHash(proven.entry));
    const expected = Object.hasOwn(shown, document.certificateId) ? shown[document.certificateId] : null;
    if (expected !== null) findings.push(compareText(what, hash, expected, "shown above"));
    const event = events.get(document.eventDigest);
    const named = { computed: document.eventDigest, compared: "an event in the file" };
    findings.push({ what: `${what}: its event`, ...named, holds: event !== undefined });
    if (event !== undefined) await checkFacets(document, event, findings);
    findings.push(checkPredecessor(what, document, earlier));
    earlier.set(hash, document);
  }
}

function checkPredecessor(what: string, document: Document, earlier: Map<string, Document | null>): Finding {
  const named = document.previousCertificateHash;
  const common = { what: `${what}: its predecessor`, computed: named ?? "none: first certificate of its namespace" };
  if (named === null) return { ...common, compared: `number ${document.number}`, holds: document.number === 0 };
  const before = earlier.get(named);
  const holds = before?.namespace === document.namespace && before.number + 1 === document.number;
  return { ...common, compared: `the hash of certificate ${document.number - 1}, computed here`, holds };
}

async function checkFacets(document: Document, event: Json, findings: Finding[]): Promise<void> {
  const facets = valueAt(event, "run", "facets");
  for (const [name, wanted] of Object.entries(document.evidenceHashes)) {
    const facet = valueAt(facets, name);
    const facetHash = facet === undefined ? "it is not in the event" : await facetDigest(facet, wanted);
    const what = `Evidence ${name}`;
    if (facetHash === null) findings.push({ what, computed: "not computed here", compared: wanted, holds: null });
    else findings.push(compareText(what, facetHash, wanted, "in the certificate"));
  }
}

export function documentIn({ entry }: ProvenEntry): Document | null {
  const fields = parseObject(entry.details);
  const previous = fields.previousCertificateHash;
  const texts = [fields.certificateId, fields.eventDigest, fields.namespace, fields.runId];
  const evidence = fields.evidenceHashes;
  if (texts.some((one) => typeof one !== "string") || typeof fields.number !== "number") return null;
  if ((previous !== null && typeof previous !== "string") || typeof evidence !== "object" || evidence === null)
    return null;
  return fields as unknown as Document;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function valueAt(value: Json | undefined, ...names: string[]): Json | undefined {
  let current = value;
  for (const name of names) current = current instanceof Map ? current.get(name) : undefined;
  return current;
}

function compareText(what: string, computed: string, wanted: unknown, where: string): Finding {
  const expected = typeof wanted === "string" ? wanted : "nothing";
  return { what, computed, compared: `${expected}, ${where}`, holds: computed === expected };
}
