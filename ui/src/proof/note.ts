/** Signed notes and checkpoints (c2sp.org/signed-note, c2sp.org/tlog-checkpoint). */

import { type Bytes, base64, concat, hex, sha256, unbase64, utf8 } from "./bytes";

export class InvalidNote extends Error {}

export interface Signature {
  name: string;
  id: string;
  bytes: Bytes;
}

export interface Note {
  /** What is signed, with the line end of its last line. */
  text: string;
  signatures: Signature[];
}

export interface Checkpoint {
  origin: string;
  size: number;
  root: Bytes;
}

export interface Key {
  vkey: string;
  name: string;
  id: string;
  public: Bytes;
}

const MARK = "\u2014 ";
const ED25519 = 1;
const MOST_SIGNATURES = 64;

export function readNote(note: string): Note {
  const blank = note.lastIndexOf("\n\n");
  const lines = note
    .slice(blank + 2)
    .replace(/\n$/, "")
    .split("\n");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them belongs in a note
  if (blank < 1 || /[\0-\x09\x0b-\x1f]/.test(note) || lines.length > MOST_SIGNATURES) {
    throw new InvalidNote("it is not a signed note");
  }
  const parsed = { text: note.slice(0, blank + 1), signatures: lines.map(readSignature) };
  if (written(parsed) !== note) throw new InvalidNote("it does not have the form of a signed note");
  return parsed;
}

function readSignature(line: string): Signature {
  const [name = "", encoded = "", more] = line.slice(MARK.length).split(" ");
  const data = unbase64(encoded);
  if (!line.startsWith(MARK) || !isName(name) || more !== undefined || data === null || data.length <= 4) {
    throw new InvalidNote("one of its signatures cannot be read");
  }
  return { name, id: hex(data.slice(0, 4)), bytes: data.slice(4) };
}

function written(note: Note): string {
  const lines = note.signatures.map(({ name, id, bytes }) => {
    const start = Uint8Array.from({ length: 4 }, (_, at) => Number.parseInt(id.slice(2 * at, 2 * at + 2), 16));
    return `${MARK}${name} ${base64(concat(start, bytes))}\n`;
  });
  return `${note.text}\n${lines.join("")}`;
}

export function readCheckpoint(text: string): Checkpoint {
  const [origin = "", size = "", encoded = "", end, ...more] = text.split("\n");
  const root = unbase64(encoded);
  if (!origin || !/^(0|[1-9]\d*)$/.test(size) || end !== "" || more.length > 0 || root?.length !== 32) {
    throw new InvalidNote("it is not a checkpoint: name, size and root, one per line");
  }
  if (!Number.isSafeInteger(Number(size))) throw new InvalidNote("its size exceeds what this browser can count");
  return { origin, size: Number(size), root };
}

/** A public key as it is handed around: name+id+key. */
export async function readKey(vkey: string): Promise<Key> {
  const [name = "", id = "", ...rest] = vkey.split("+");
  const data = unbase64(rest.join("+"));
  if (!isName(name) || data === null || data.length !== 33 || data[0] !== ED25519 || (await keyId(name, data)) !== id) {
    throw new InvalidNote("the key is not an Ed25519 key of the form NAME+ID+KEY");
  }
  return { vkey, name, id, public: data.slice(1) };
}

async function keyId(name: string, data: Bytes): Promise<string> {
  return hex((await sha256(concat(utf8(`${name}\n`), data))).slice(0, 4));
}

function isName(name: string): boolean {
  return name !== "" && !/[\s+]/.test(name);
}

export class UnsupportedCheck extends Error {}

/** At least one signature names the key, and each that does is good. Throws `CannotCheck` where the browser cannot. */
export async function isSigned(note: Note, key: Key): Promise<boolean> {
  const theirs = note.signatures.filter((signature) => signature.name === key.name && signature.id === key.id);
  if (theirs.length === 0) return false;
  const checked = await Promise.all(theirs.map((signature) => verify(key.public, signature.bytes, utf8(note.text))));
  return checked.every(Boolean);
}

async function verify(publicKey: Bytes, signature: Bytes, data: Bytes): Promise<boolean> {
  let key: CryptoKey;
  try {
    key = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
  } catch {
    throw new UnsupportedCheck("this browser does not support Ed25519 and cannot check signatures");
  }
  return crypto.subtle.verify("Ed25519", key, signature, data);
}
