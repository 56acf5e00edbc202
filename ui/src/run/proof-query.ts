/** A run's evidence, fetched as it is and computed again in this browser. */

import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { ApiError, client, fetchBytes, responseData, type Schemas } from "../api/client";
import { ROOT } from "../api/root";
import { type Bytes, unhex } from "../proof/bytes";
import { unsupportedReason, type Verification, verifyBundle } from "../proof/verify";
import { newest } from "./figures";

export type ProofQuery = UseQueryResult<Verification>;

export function bundlePath(id: string): string {
  return `${ROOT}/api/v1/runs/${encodeURIComponent(id)}/bundle`;
}

export function useProof(detail: Schemas["RunDetail"]): ProofQuery {
  const { run_id: id } = detail.run;
  return useQuery({
    // Not among what every new run makes old: only what happens to this one does.
    queryKey: ["proof", id, detail.event_count, newest(detail)?.hash ?? null],
    queryFn: async () => {
      const reason = unsupportedReason();
      if (reason !== null) throw new CannotVerifyHere(reason);
      const [content, keys] = await Promise.all([fetchBytes(bundlePath(id)), serverKeys()]);
      const certificates = Object.fromEntries(detail.certificates.map((one) => [one.certificate_id, one.hash]));
      return verifyBundle(content, { keys, certificates });
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export class CannotVerifyHere extends Error {}

/** Null for a reader who may not see the whole log. */
async function serverKeys(): Promise<string[] | null> {
  try {
    return (await responseData(client.GET("/api/v1/log/keys"))).items.map((one) => one.key);
  } catch (problem) {
    if (problem instanceof ApiError && problem.status === 403) return null;
    throw problem;
  }
}

/** What the server has to show for how its log grew, or in words why it has nothing. */
export async function consistency(before: number, after: number): Promise<Bytes[] | string> {
  try {
    const query = { old: before, new: after };
    const { path } = await responseData(client.GET("/api/v1/log/consistency", { params: { query } }));
    const hashes = path.map(unhex);
    return hashes.every((one) => one !== null) ? hashes : "the server's hashes are malformed";
  } catch (problem) {
    if (problem instanceof ApiError && problem.status >= 400 && problem.status < 500) return problem.message;
    throw problem;
  }
}

export type ProofStatus = "checking" | "holds" | "broken" | "unsigned" | "nothing" | "unchecked";

/** The status of the verification. */
export function proofStatus(proof: Pick<ProofQuery, "data" | "error">): ProofStatus {
  if (proof.data) return proof.data.holds === null ? "unchecked" : proof.data.holds ? "holds" : "broken";
  if (proof.error === null) return "checking";
  if (!(proof.error instanceof ApiError)) return "unchecked";
  if (proof.error.code === "evidence_broken" || proof.error.code === "audit_broken") return "broken";
  if (proof.error.code === "query_error") return "unsigned";
  return proof.error.code === "no_evidence" ? "nothing" : "unchecked";
}
