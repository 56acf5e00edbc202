/** The second step: each entry in the file is in the log that was signed. */

import type { Bundle, Proven } from "./bundle";
import { hex, same } from "./bytes";
import { entryHash } from "./hashes";
import { leafHash, rootByInclusion } from "./merkle";
import type { Checkpoint } from "./note";
import { type Finding, type Step, stepOf } from "./steps";

export async function checkInclusion(bundle: Bundle, checkpoint: Checkpoint): Promise<Step> {
  const groups: [string, Proven[]][] = [
    ["about the run", bundle.entries],
    ["a certificate before", bundle.chain],
    ["a certificate of a run before", bundle.upstream.map((one) => one.certificate)],
    ["a key of the log", bundle.keys],
  ];
  const findings: Finding[] = [];
  for (const [what, entries] of groups) {
    for (const each of entries) findings.push(await included(each, what, checkpoint));
  }
  return stepOf("inclusion", findings);
}

async function included({ entry, path }: Proven, what: string, { size, root }: Checkpoint): Promise<Finding> {
  const found = await rootByInclusion(await leafHash(await entryHash(entry)), entry.seq - 1, size, path);
  return {
    what: `Entry ${entry.seq}, ${what}`,
    computed: found === null ? "its path does not fit a log of this size" : `root ${hex(found)}`,
    compared: `root ${hex(root)}, of the checkpoint's ${size} entries`,
    holds: same(found, root),
  };
}
