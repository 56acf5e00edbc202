/** The second step: each entry in the file is in the log that was signed. */

import type { Bundle, ProvenEntry } from "./bundle";
import { hex, isEqual } from "./bytes";
import { entryHash } from "./hashes";
import { leafHash, rootByInclusion } from "./merkle";
import type { Checkpoint } from "./note";
import { type Finding, type ProofStep, stepOf } from "./steps";

export async function checkInclusion(bundle: Bundle, checkpoint: Checkpoint): Promise<ProofStep> {
  const groups: [string, ProvenEntry[]][] = [
    ["about the run", bundle.entries],
    ["an earlier certificate", bundle.chain],
    ["a certificate of an upstream run", bundle.upstream.map((one) => one.certificate)],
    ["a key of the log", bundle.keys],
  ];
  const findings: Finding[] = [];
  for (const [what, entries] of groups) {
    for (const proven of entries) findings.push(await checkEntry(proven, what, checkpoint));
  }
  return stepOf("inclusion", findings);
}

async function checkEntry({ entry, path }: ProvenEntry, what: string, { size, root }: Checkpoint): Promise<Finding> {
  const computedRoot = await rootByInclusion(await leafHash(await entryHash(entry)), entry.seq - 1, size, path);
  return {
    what: `Entry ${entry.seq}, ${what}`,
    computed: computedRoot === null ? "its proof does not fit a log of this size" : `root ${hex(computedRoot)}`,
    compared: `root ${hex(root)}, of the checkpoint's ${size} entries`,
    holds: isEqual(computedRoot, root),
  };
}
