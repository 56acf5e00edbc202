/** The last step: a checkpoint that was kept in a second place, where who runs the server cannot change it. */

import type { Bundle } from "./bundle";
import { type Bytes, hex, same } from "./bytes";
import { signature } from "./checkpoint";
import { goesOn } from "./merkle";
import { type Checkpoint, NoteInvalid, readCheckpoint, readNote } from "./note";
import { type Finding, type Step, stepOf } from "./steps";

/** Hashes that show how a log went on from one size to another, or why there are none. */
export type Consistency = (before: number, after: number) => Promise<Bytes[] | string>;

export async function checkAnchor(
  pasted: string,
  bundle: Bundle,
  signed: Checkpoint,
  consistency: Consistency,
): Promise<Step> {
  const note = `${pasted.replace(/\r\n/g, "\n").trim()}\n`;
  if (note.indexOf("\n") === note.length - 1) return stepOf("anchor", [knownKey(note.trim(), bundle)]);
  let kept: Checkpoint;
  try {
    kept = readCheckpoint(readNote(note).text);
  } catch (problem) {
    if (!(problem instanceof NoteInvalid)) throw problem;
    const told = { what: "What was pasted", computed: problem.message, compared: "a checkpoint, five lines of text" };
    return stepOf("anchor", [{ ...told, holds: false }]);
  }
  const findings: Finding[] = [
    {
      what: "The log",
      computed: kept.origin,
      compared: `${signed.origin}, the log of this run`,
      holds: kept.origin === signed.origin,
    },
    await signature(note, keyAt(bundle, kept.size), `The signature under the log of ${kept.size} entries`),
  ];
  if (kept.origin === signed.origin) findings.push(await growth(kept, signed, consistency));
  return stepOf("anchor", findings);
}

/** Whose log it is, the file does not prove; a key that the reader has from elsewhere does. */
function knownKey(vkey: string, bundle: Bundle): Finding {
  const keys = bundle.keys.map(({ entry }) => lastKeyIn(entry.details));
  const holds = keys.includes(vkey);
  const computed = holds ? "it has signed for this log" : `it never signed for this log; ${bundle.key} did`;
  return { what: "The key", computed, compared: `${vkey}, which you brought`, holds };
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
  const entry = bundle.keys.findLast((each) => each.entry.seq <= size)?.entry;
  if (entry === undefined || size >= (bundle.keys.at(-1)?.entry.seq ?? 0)) return bundle.key;
  return lastKeyIn(entry.details) ?? bundle.key;
}

async function growth(kept: Checkpoint, signed: Checkpoint, consistency: Consistency): Promise<Finding> {
  const told = { what: "The log then and now", compared: `root ${hex(kept.root)}, kept in the second place` };
  if (kept.size === signed.size) {
    return { ...told, computed: `root ${hex(signed.root)}`, holds: same(kept.root, signed.root) };
  }
  const [before, after] = kept.size < signed.size ? [kept, signed] : [signed, kept];
  const path = await consistency(before.size, after.size);
  if (typeof path === "string") return { ...told, computed: path, holds: false };
  const holds = await goesOn(before.size, after.size, before.root, after.root, path);
  const words = `the log of ${after.size} entries ${holds ? "begins" : "does not begin"} with that of ${before.size}`;
  return { ...told, computed: `${words}, by ${path.length} hashes`, holds };
}
