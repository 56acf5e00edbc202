/** The third step: the log is signed, by the key that its own entries put in force. */

import type { Bundle, KeyEntry } from "./bundle";
import { base64, hex, same } from "./bytes";
import { goesOn, leafHash, rootByInclusion } from "./merkle";
import {
  CannotCheck,
  type Checkpoint,
  isSigned,
  type Key,
  NoteInvalid,
  readCheckpoint,
  readKey,
  readNote,
} from "./note";
import { type Finding, type Step, stepOf } from "./steps";

const TITLES: Record<string, string> = {
  "key.adopted": "headwater: key adopted",
  "key.rotated": "headwater: key rotated",
};

export async function checkCheckpoint(
  bundle: Bundle,
  checkpoint: Checkpoint,
  serverKeys: string[] | null,
): Promise<Step> {
  const signed = `The signature under the log of ${checkpoint.size} entries`;
  const findings = [await signature(bundle.checkpoint, bundle.key, signed), await checkName(bundle, checkpoint)];
  const keys = await keysOf(bundle, checkpoint, findings);
  const inForce = keys.at(-1)?.vkey ?? null;
  findings.push({
    what: "The key in force",
    computed: inForce ?? "none",
    compared: `${bundle.key}, the key in the file`,
    holds: inForce === bundle.key,
  });
  if (serverKeys !== null) {
    const known = serverKeys.includes(bundle.key);
    const computed = known ? bundle.key : `${bundle.key} is not among them`;
    findings.push({ what: "The server's keys", computed, compared: "GET /api/v1/log/keys", holds: known });
  }
  return stepOf("checkpoint", findings);
}

async function checkName(bundle: Bundle, { origin, size, root }: Checkpoint): Promise<Finding> {
  const { hash, path } = bundle.first;
  const found = await rootByInclusion(await leafHash(hash), 0, size, path);
  const name = `headwater.log/${hex(hash).slice(0, 32)}`;
  return {
    what: "The log's name",
    computed: same(found, root) ? `${name}, by its first entry` : "its first entry is not in the log that was signed",
    compared: `${origin}, in the checkpoint`,
    holds: same(found, root) && name === origin,
  };
}

/** Each key that signed for the log, the oldest first: who trusts one can follow to the next. */
async function keysOf(bundle: Bundle, checkpoint: Checkpoint, findings: Finding[]): Promise<Key[]> {
  const keys: Key[] = [];
  for (const told of bundle.keys) {
    const what = `Entry ${told.entry.seq}, which puts a key in force`;
    try {
      keys.push(await follow(told, checkpoint, keys.at(-1)));
      const shown = `${keys.at(-1)?.vkey} signed for it`;
      findings.push({ what, computed: shown, compared: "the keys it names, over the log before it", holds: true });
    } catch (problem) {
      if (!(problem instanceof NoteInvalid) && !(problem instanceof CannotCheck)) throw problem;
      const holds = problem instanceof CannotCheck ? null : false;
      findings.push({ what, computed: problem.message, compared: "the keys it names, over the log before it", holds });
      // Without Ed25519 the names can still be followed.
      const named = holds === null ? namedIn(told).at(-1) : undefined;
      if (named !== undefined) keys.push(await readKey(named));
    }
  }
  return keys;
}

async function follow(told: KeyEntry, checkpoint: Checkpoint, before: Key | undefined): Promise<Key> {
  const kind = told.entry.event_type;
  const note = readNote(noteIn(told));
  const [title, ...lines] = note.text.replace(/\n$/, "").split("\n");
  const state = readCheckpoint(`${lines.slice(0, 3).join("\n")}\n`);
  const keys = await Promise.all(lines.slice(3).map(readKey));
  const wanted = kind === "key.rotated" ? 2 : 1;
  if (title !== TITLES[kind] || keys.length !== wanted) throw new NoteInvalid(`it does not state what ${kind} states`);
  if (state.origin !== checkpoint.origin || keys.some((key) => key.name !== checkpoint.origin)) {
    throw new NoteInvalid(`it is of another log, ${state.origin}`);
  }
  if (state.size !== told.entry.seq - 1 || !same(state.root, told.root)) {
    throw new NoteInvalid("it was signed for another state of the log");
  }
  if (!(await goesOn(state.size, checkpoint.size, state.root, checkpoint.root, told.consistency))) {
    throw new NoteInvalid("the log that was signed does not go on from its state");
  }
  if (kind === "key.rotated" ? keys[0]?.vkey !== before?.vkey : before !== undefined) {
    throw new NoteInvalid(`the key in force was ${before?.vkey ?? "none"}`);
  }
  for (const key of keys) if (!(await isSigned(note, key))) throw new NoteInvalid(`it is not signed by ${key.vkey}`);
  const last = keys.at(-1);
  if (last === undefined) throw new NoteInvalid("it names no key");
  return last;
}

function noteIn(told: KeyEntry): string {
  try {
    const { note } = JSON.parse(told.entry.details);
    if (typeof note === "string") return note;
  } catch {
    // Said below.
  }
  throw new NoteInvalid("it has no note in it");
}

function namedIn(told: KeyEntry): string[] {
  return readNote(noteIn(told)).text.replace(/\n$/, "").split("\n").slice(4);
}

/** Whether a note is signed by a key. */
export async function signature(note: string, vkey: string, what: string): Promise<Finding> {
  const compared = `the public key ${vkey}`;
  try {
    const [read, key] = [readNote(note), await readKey(vkey)];
    const good = await isSigned(read, key);
    const shown = read.signatures.map((each) => base64(each.bytes)).join(" ");
    const computed = good ? `Ed25519 ${shown} is of this key over this text` : "it is not of this key over this text";
    return { what, computed, compared, holds: good };
  } catch (problem) {
    if (problem instanceof CannotCheck) return { what, computed: problem.message, compared, holds: null };
    if (problem instanceof NoteInvalid) return { what, computed: problem.message, compared, holds: false };
    throw problem;
  }
}
