/**
 * Does a run's evidence hold? Everything is computed again from the file alone (docs/proof-format.md is the recipe), and
 * each step tells what was computed and what it was compared with.
 */

import { type Bundle, InvalidBundle, readBundle } from "./bundle";
import type { Bytes } from "./bytes";
import { checkCheckpoint } from "./checkpoint";
import { checkHashes } from "./contents";
import { checkInclusion } from "./inclusion";
import { type Checkpoint, InvalidNote, readCheckpoint, readNote } from "./note";
import { type ProofStep, stepOf } from "./steps";

export interface Verification {
  /** In the order of the proof; those behind one that could not be taken are left out. */
  steps: ProofStep[];
  /** Null where nothing is wrong, and not everything could be checked here. */
  holds: boolean | null;
  bundle: Bundle | null;
  checkpoint: Checkpoint | null;
}

/** What the server says besides the file, to be compared with it. */
export interface ServerValues {
  /** The public keys that have signed for its log. */
  keys?: string[] | null;
  /** The hashes of the run's certificates, by their ids. */
  certificates?: Record<string, string>;
}

export async function verifyBundle(content: Bytes, beside: ServerValues = {}): Promise<Verification> {
  let bundle: Bundle;
  try {
    bundle = readBundle(content);
  } catch (problem) {
    if (!(problem instanceof InvalidBundle)) throw problem;
    return failedStep("hash", "The file", problem.message);
  }
  let checkpoint: Checkpoint;
  try {
    checkpoint = readCheckpoint(readNote(bundle.checkpoint).text);
  } catch (problem) {
    if (!(problem instanceof InvalidNote)) throw problem;
    return failedStep("checkpoint", "The checkpoint", problem.message, bundle);
  }
  const steps = [
    await checkHashes(bundle, beside.certificates ?? {}),
    await checkInclusion(bundle, checkpoint),
    await checkCheckpoint(bundle, checkpoint, beside.keys ?? null),
  ];
  return { steps, holds: overall(steps), bundle, checkpoint };
}

export function overall(steps: ProofStep[]): boolean | null {
  if (steps.some((step) => step.holds === false)) return false;
  return steps.every((step) => step.holds === true) ? true : null;
}

function failedStep(name: ProofStep["name"], what: string, why: string, bundle: Bundle | null = null): Verification {
  const finding = { what, computed: why, compared: "a readable bundle", holds: false };
  return { steps: [stepOf(name, [finding])], holds: false, bundle, checkpoint: null };
}

/** Why nothing can be computed in this browser; null where it can. */
export function unsupportedReason(): string | null {
  if (globalThis.crypto?.subtle) return null;
  return "Browsers compute hashes only on pages served over HTTPS or from localhost.";
}
