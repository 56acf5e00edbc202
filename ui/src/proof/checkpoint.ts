/** The third step: the log is signed, by the key that its own entries put in force. */

import type { Bundle, KeyEntry } from "./bundle";
import { base64, hex, isEqual } from "./bytes";
import { isConsistent, leafHash, rootByInclusion } from "./merkle";
import {
  type Checkpoint,
  InvalidNote,
  isSigned,
  type Key,
  readCheckpoint,
  readKey,
  readNote,
  UnsupportedCheck,
} from "./note";
import { type Finding, type ProofStep, stepOf } from "./steps";

const TITLES: Record<string, string> = {
  "key.adopted": "headwater: key adopted",
  "key.rotated": "headwater: key rotated",
};

export async function checkCheckpoint(
  bundle: Bundle,
  checkpoint: Checkpoint,
  serverKeys: string[] | null,
): Promise<ProofStep> {
  const signed = `The signature under the log of ${checkpoint.size} entries`;
  const findings = [await signature(bundle.checkpoint, bundle.key, signed), await checkName(bundle, checkpoint)];
  const keys = await keysOf(bundle, checkpoint, findings);
  const inForce = keys.at(-1)?.vkey ?? null;
  findings.push({
    what: "Active key",
    computed: inForce ?? "none",
    compared: `${bundle.key}, the key in the file`,
    holds: inForce === bundle.key,
  });
  if (serverKeys !== null) {
    const known = serverKeys.includes(bundle.key);
    const computed = known ? bundle.key : `${bundle.key} is not among them`;
    findings.push({ what: "Keys of the server", computed, compared: "GET /api/v1/log/keys", holds: known });
  }
  return stepOf("checkpoint", findings);
}

async function checkName(bundle: Bundle, { origin, size, root }: Checkpoint): Promise<Finding> {
  const { hash, path } = bundle.first;
  const computedRoot = await rootByInclusion(await leafHash(hash), 0, size, path);
  const name = `headwater.log/${hex(hash).slice(0, 32)}`;
  return {
    what: "The log's name",
    computed: isEqual(computedRoot, root) ? `${name}, by its first entry` : "its first entry is not in the signed log",
    compared: `${origin}, in the checkpoint`,
    holds: isEqual(computedRoot, root) && name === origin,
  };
}

/** Each key that signed for the log, the oldest first: who trusts one can follow to the next. */
async function keysOf(bundle: Bundle, checkpoint: Checkpoint, findings: Finding[]): Promise<Key[]> {
  const keys: Key[] = [];
  for (const keyEntry of bundle.keys) {
    const what = `Entry ${keyEntry.entry.seq}, which activates a key`;
    try {
      keys.push(await verifyKeyEntry(keyEntry, checkpoint, keys.at(-1)));
      const shown = `${keys.at(-1)?.vkey} signed it`;
      findings.push({ what, computed: shown, compared: "the keys it names and the log before it", holds: true });
    } catch (problem) {
      if (!(problem instanceof InvalidNote) && !(problem instanceof UnsupportedCheck)) throw problem;
      const holds = problem instanceof UnsupportedCheck ? null : false;
      findings.push({ what, computed: problem.message, compared: "the keys it names and the log before it", holds });
      // Without Ed25519 the names can still be followed.
      const named = holds === null ? namedIn(keyEntry).at(-1) : undefined;
      if (named !== undefined) keys.push(await readKey(named));
    }
  }
  return keys;
}

async function verifyKeyEntry(keyEntry: KeyEntry, checkpoint: Checkpoint, before: Key | undefined): Promise<Key> {
  const kind = keyEntry.entry.event_type;
  const note = readNote(noteIn(keyEntry));
  const [title, ...lines] = note.text.replace(/\n$/, "").split("\n");
  const state = readCheckpoint(`${lines.slice(0, 3).join("\n")}\n`);
  const keys = await Promise.all(lines.slice(3).map(readKey));
  const wanted = kind === "key.rotated" ? 2 : 1;
  if (title !== TITLES[kind] || keys.length !== wanted) throw new InvalidNote(`it does not state what ${kind} states`);
  if (state.origin !== checkpoint.origin || keys.some((key) => key.name !== checkpoint.origin)) {
    throw new InvalidNote(`it belongs to another log, ${state.origin}`);
  }
  if (state.size !== keyEntry.entry.seq - 1 || !isEqual(state.root, keyEntry.root)) {
    throw new InvalidNote("it signs another state of the log");
  }
  if (!(await isConsistent(state.size, checkpoint.size, state.root, checkpoint.root, keyEntry.consistency))) {
    throw new InvalidNote("the signed log does not extend its state");
  }
  if (kind === "key.rotated" ? keys[0]?.vkey !== before?.vkey : before !== undefined) {
    throw new InvalidNote(`the active key was ${before?.vkey ?? "none"}`);
  }
  for (const key of keys) if (!(await isSigned(note, key))) throw new InvalidNote(`it is not signed by ${key.vkey}`);
  const last = keys.at(-1);
  if (last === undefined) throw new InvalidNote("it names no key");
  return last;
}

function noteIn(keyEntry: KeyEntry): string {
  try {
    const { note } = JSON.parse(keyEntry.entry.details);
    if (typeof note === "string") return note;
  } catch {
    // Said below.
  }
  throw new InvalidNote("it contains no note");
}

function namedIn(keyEntry: KeyEntry): string[] {
  return readNote(noteIn(keyEntry)).text.replace(/\n$/, "").split("\n").slice(4);
}

/** Whether a note is signed by a key. */
export async function signature(note: string, vkey: string, what: string): Promise<Finding> {
  const compared = `the public key ${vkey}`;
  try {
    const [read, key] = [readNote(note), await readKey(vkey)];
    const good = await isSigned(read, key);
    const shown = read.signatures.map((one) => base64(one.bytes)).join(" ");
    const computed = good ? `Ed25519 ${shown} is of this key over this text` : "it is not of this key over this text";
    return { what, computed, compared, holds: good };
  } catch (problem) {
    if (problem instanceof UnsupportedCheck) return { what, computed: problem.message, compared, holds: null };
    if (problem instanceof InvalidNote) return { what, computed: problem.message, compared, holds: false };
    throw problem;
  }
}
