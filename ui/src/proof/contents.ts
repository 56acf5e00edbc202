/** The first step: events and certificates against the entries that the log has of them. */

import type { Bundle, Proven, Received } from "./bundle";
import { hex, same, sha256 } from "./bytes";
import { certificateHash, entryHash, eventDigest, facetDigest, readEvent } from "./hashes";
import type { Json } from "./json";
import { type Finding, type Step, stepOf } from "./steps";

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
export async function checkHashes(bundle: Bundle, shown: Record<string, string>): Promise<Step> {
  const findings: Finding[] = [];
  const ofEvents: Finding[] = [];
  const events = await checkEvents(bundle, ofEvents);
  // What a reader came for is said first.
  await checkCertificates(bundle, events, shown, findings);
  findings.push(...ofEvents);
  await checkLinks(bundle, findings);
  for (const [at, one] of bundle.upstream.entries()) {
    const what = `Event of a run before, ${at + 1}`;
    const found = await digestOf(one.event, what, findings);
    const document = documentIn(one.certificate);
    const wanted = document?.eventDigest ?? "";
    if (found) findings.push(compared(what, found.digest, wanted, "in its certificate"));
    if (found && document) await checkFacets(document, found.content, findings);
  }
  return stepOf("hash", findings);
}

/** The events by digest, each compared with its entry. */
async function checkEvents(bundle: Bundle, findings: Finding[]): Promise<Map<string, Json>> {
  const found = new Map<string, Json>();
  const entries = bundle.entries.filter(({ entry }) => entry.event_type === INGESTED);
  for (const [at, { entry }] of entries.entries()) {
    const what = `Event ${at + 1} (entry ${entry.seq})`;
    const received = bundle.events[at];
    if (received === undefined) {
      findings.push({ what, computed: "it is missing", compared: "an event for each entry of one", holds: false });
      continue;
    }
    const event = await digestOf(received, what, findings);
    if (event === null) continue;
    findings.push(compared(what, event.digest, membersOf(entry.details).digest, "in its entry of the log"));
    const about = within(event.content, "run", "runId");
    if (about !== bundle.run)
      findings.push(compared(`${what}, the run it is of`, String(about), bundle.run, "in the file"));
    found.set(event.digest, event.content);
  }
  if (bundle.events.length > entries.length || entries.length === 0) {
    const what = "Events";
    const computed = `${bundle.events.length} in the file`;
    findings.push({ what, computed, compared: `${entries.length} entries of events`, holds: false });
  }
  return found;
}

async function digestOf(received: Received, what: string, findings: Finding[]) {
  const bytes = await sha256(received.body);
  if (!same(bytes, received.sha256)) {
    findings.push(compared(`${what}, its bytes`, hex(bytes), hex(received.sha256), "beside them in the file"));
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
      const order = { computed: `after entry ${before.seq}`, compared: "entries in the order of the log" };
      findings.push({ what: `Entry ${entry.seq}`, ...order, holds: false });
    } else if (before.seq === entry.seq - 1) {
      const found = hex(await entryHash(before));
      findings.push(compared(`Entry ${before.seq}`, found, entry.previous_hash, `in entry ${entry.seq}, the next one`));
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
  for (const each of bundle.chain) earlier.set(hex(await certificateHash(each.entry)), documentIn(each));
  for (const each of bundle.entries) {
    if (each.entry.event_type !== ISSUED) continue;
    const document = documentIn(each);
    const what = `Certificate in entry ${each.entry.seq}`;
    if (document === null) {
      findings.push({ what, computed: "it cannot be read", compared: "a certificate", holds: false });
      continue;
    }
    const hash = hex(await certificateHash(each.entry));
    const told = Object.hasOwn(shown, document.certificateId) ? shown[document.certificateId] : null;
    if (told !== null) findings.push(compared(what, hash, told, "shown above"));
    const event = events.get(document.eventDigest);
    const named = { computed: document.eventDigest, compared: "an event in the file" };
    findings.push({ what: `${what}: the event it is of`, ...named, holds: event !== undefined });
    if (event !== undefined) await checkFacets(document, event, findings);
    findings.push(following(what, document, earlier));
    earlier.set(hash, document);
  }
}

function following(what: string, document: Document, earlier: Map<string, Document | null>): Finding {
  const named = document.previousCertificateHash;
  const told = { what: `${what}: the one it follows`, computed: named ?? "none: it is the first of its namespace" };
  if (named === null) return { ...told, compared: `number ${document.number}`, holds: document.number === 0 };
  const before = earlier.get(named);
  const holds = before?.namespace === document.namespace && before.number + 1 === document.number;
  return { ...told, compared: `the hash of certificate ${document.number - 1}, computed here`, holds };
}

async function checkFacets(document: Document, event: Json, findings: Finding[]): Promise<void> {
  const facets = within(event, "run", "facets");
  for (const [name, wanted] of Object.entries(document.evidenceHashes)) {
    const facet = within(facets, name);
    const found = facet === undefined ? "it is not in the event" : await facetDigest(facet, wanted);
    const what = `Evidence ${name}`;
    if (found === null) findings.push({ what, computed: "not computed here", compared: wanted, holds: null });
    else findings.push(compared(what, found, wanted, "in the certificate"));
  }
}

export function documentIn({ entry }: Proven): Document | null {
  const told = membersOf(entry.details);
  const previous = told.previousCertificateHash;
  const texts = [told.certificateId, told.eventDigest, told.namespace, told.runId];
  const evidence = told.evidenceHashes;
  if (texts.some((one) => typeof one !== "string") || typeof told.number !== "number") return null;
  if ((previous !== null && typeof previous !== "string") || typeof evidence !== "object" || evidence === null)
    return null;
  return told as unknown as Document;
}

function membersOf(text: string): Record<string, unknown> {
  try {
    const told: unknown = JSON.parse(text);
    return typeof told === "object" && told !== null ? (told as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function within(value: Json | undefined, ...names: string[]): Json | undefined {
  let found = value;
  for (const name of names) found = found instanceof Map ? found.get(name) : undefined;
  return found;
}

function compared(what: string, computed: string, wanted: unknown, where: string): Finding {
  const told = typeof wanted === "string" ? wanted : "nothing";
  return { what, computed, compared: `${told}, ${where}`, holds: computed === told };
}
