/** The last step: a checkpoint that was kept in a second place, where who runs the server cannot change it. */

import type { Bundle } from "./bundle";
import { type Bytes, hex, isEqual } from "./bytes";
import { signature } from "./checkpoint";
import { isConsistent } from "./merkle";
import { type Checkpoint, InvalidNote, readCheckpoint, readNote } from "./note";
import { type Finding, type ProofStep, stepOf } from "./steps";

/** Hashes that show how a log went on from one size to another, or why there are none. */
export type Consistency = (before: number, after: number) => Promise<Bytes[] | string>;

export async function checkAnchor(
  pasted: string,
  bundle: Bundle,
  signed: Checkpoint,
  consistency: Consistency,
): Promise<ProofStep> {
  const note = `${pasted.replace(/\r\n/g, "\n").trim()}\n`;
  if (note.indexOf("\n") === note.length - 1) return stepOf("anchor", [checkPastedKey(note.trim(), bundle)]);
  let anchored: Checkpoint;
  try {
    anchored = readCheckpoint(readNote(note).text);
  } catch (problem) {
    if (!(problem instanceof InvalidNote)) throw problem;
    const common = { what: "Pasted text", computed: problem.message, compared: "a checkpoint, five lines of text" };
    return stepOf("anchor", [{ ...common, holds: false }]);
  }
  const findings: Finding[] = [
    {
      what: "The log",
      computed: anchored.origin,
      compared: `${signed.origin}, the log of this run`,
      holds: anchored.origin === signed.origin,
    },
    await signature(note, keyAt(bundle, anchored.size), `The signature under the log of ${anchored.size} entries`),
  ];
  if (anchored.origin === signed.origin) findings.push(await checkConsistency(anchored, signed, consistency));
  return stepOf("anchor", findings);
}

/** Whose log it is, the file does not prove; a key that the reader has from elsewhere does. */
function checkPastedKey(vkey: string, bundle: Bundle): Finding {
  const keys = bundle.keys.map(({ entry }) => lastKeyIn(entry.details));
  const holds = keys.includes(vkey);
  const computed = holds ? "it signed this log" : `it did not sign this log; ${bundle.key} did`;
  return { what: "The key", computed, compared: `${vkey}, as pasted`, holds };
}

function lastKeyIn(details: string): string | undefined {
  try {
    return readNote(JSON.parse(details).note).text.trimEnd().split("\n").at(-1);
  } catch {
    return undefined;
  }
}

/** The newest key that was in force by then; the one in the file where it came later. */
function keyAt(bundle: Bundle, size: number): string {
  const entry = bundle.keys.findLast((key) => key.entry.seq <= size)?.entry;
  if (entry === undefined || size >= (bundle.keys.at(-1)?.entry.seq ?? 0)) return bundle.key;
  return lastKeyIn(entry.details) ?? bundle.key;
}

async function checkConsistency(anchored: Checkpoint, signed: Checkpoint, consistency: Consistency): Promise<Finding> {
  const common = { what: "Consistency of the log", compared: `root ${hex(anchored.root)}, in the pasted checkpoint` };
  if (anchored.size === signed.size) {
    return { ...common, computed: `root ${hex(signed.root)}`, holds: isEqual(anchored.root, signed.root) };
  }
  const [before, after] = anchored.size < signed.size ? [anchored, signed] : [signed, anchored];
  const path = await consistency(before.size, after.size);
  if (typeof path === "string") return { ...common, computed: path, holds: false };
  const holds = await isConsistent(before.size, after.size, before.root, after.root, path);
  const words = `the log of ${after.size} entries ${holds ? "extends" : "does not extend"} the log of ${before.size}`;
  return { ...common, computed: `${words}, by ${path.length} hashes`, holds };
}
