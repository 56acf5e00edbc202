/** A run's evidence, fetched as it is and computed again in this browser. */

import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { answer, bytes, client, type Schemas, Trouble } from "../api/client";
import { ROOT } from "../api/root";
import { type Bytes, unhex } from "../proof/bytes";
import { type Verification, verifyBundle, whyNotHere } from "../proof/verify";
import { newest } from "./head";

export type Proven = UseQueryResult<Verification>;

export function bundlePath(id: string): string {
  return `${ROOT}/api/v1/runs/${encodeURIComponent(id)}/bundle`;
}

export function useProof(detail: Schemas["RunDetail"]): Proven {
  const { run_id: id } = detail.run;
  return useQuery({
    // Not among what every new run makes old: only what happens to this one does.
    queryKey: ["proof", id, detail.event_count, newest(detail)?.hash ?? null],
    queryFn: async () => {
      const reason = whyNotHere();
      if (reason !== null) throw new NotHere(reason);
      const [content, keys] = await Promise.all([bytes(bundlePath(id)), serverKeys()]);
      const certificates = Object.fromEntries(detail.certificates.map((one) => [one.certificate_id, one.hash]));
      return verifyBundle(content, { keys, certificates });
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export class NotHere extends Error {}

/** Null for a reader who may not see the whole log. */
async function serverKeys(): Promise<string[] | null> {
  try {
    return (await answer(client.GET("/api/v1/log/keys"))).items.map((one) => one.key);
  } catch (problem) {
    if (problem instanceof Trouble && problem.status === 403) return null;
    throw problem;
  }
}

/** What the server has to show for how its log grew, or in words why it has nothing. */
export async function consistency(before: number, after: number): Promise<Bytes[] | string> {
  try {
    const query = { old: before, new: after };
    const { path } = await answer(client.GET("/api/v1/log/consistency", { params: { query } }));
    const hashes = path.map(unhex);
    return hashes.every((one) => one !== null) ? hashes : "the server's hashes cannot be read";
  } catch (problem) {
    if (problem instanceof Trouble && problem.status >= 400 && problem.status < 500) return problem.message;
    throw problem;
  }
}

export type Standing = "checking" | "holds" | "broken" | "unsigned" | "nothing" | "unchecked";

/** Where the check stands, whichever way it ended. */
export function standingOf(proof: Pick<Proven, "data" | "error">): Standing {
  if (proof.data) return proof.data.holds === null ? "unchecked" : proof.data.holds ? "holds" : "broken";
  if (proof.error === null) return "checking";
  if (!(proof.error instanceof Trouble)) return "unchecked";
  if (proof.error.code === "evidence_broken" || proof.error.code === "audit_broken") return "broken";
  if (proof.error.code === "query_error") return "unsigned";
  return proof.error.code === "no_evidence" ? "nothing" : "unchecked";
}
