import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, responseData } from "../api/client";
import { task } from "../api/queries";
import { Badge } from "../parts/Badge";
import { formatNumber } from "../parts/format";
import { ErrorMessage } from "../parts/QueryResult";

interface LogVerification {
  entries: number;
  checkpoints: number;
  certificates: number;
  events: number | null;
}

/** Starts a verification of the whole log on the server. The view of a run verifies that run's evidence in the browser. */
export function VerifyNow() {
  const [id, setId] = useState<string | null>(null);
  const start = useMutation({
    mutationFn: () => responseData(client.POST("/api/v1/log/verify")),
    onSuccess: (started) => setId((started as { id: string }).id),
  });
  const verification = useQuery({ ...task(id ?? ""), enabled: id !== null });
  const state = id === null ? null : (verification.data?.state ?? "running");
  return (
    <div className="row wrap" aria-live="polite">
      {state === "running" && (
        <VerifyProgress done={verification.data?.progress?.done ?? 0} total={verification.data?.progress?.total ?? 0} />
      )}
      {state === "succeeded" && <VerifyResult of={verification.data?.result as LogVerification} />}
      {state === "failed" && (
        <Badge
          tone="bad"
          icon="cross"
          word={String(verification.data?.problem?.detail ?? "The log could not be verified.")}
        />
      )}
      {start.error && <ErrorMessage error={start.error} />}
      <button type="button" onClick={() => start.mutate()} disabled={start.isPending || state === "running"}>
        Verify now
      </button>
    </div>
  );
}

function VerifyProgress({ done, total }: { done: number; total: number }) {
  return (
    <span className="row dim">
      <progress aria-label="Entries verified" value={total > 0 ? done : undefined} max={total || undefined} />
      {total > 0 ? `${formatNumber(done)} of ${formatNumber(total)} entries` : "Verifying"}
    </span>
  );
}

function VerifyResult({ of }: { of: LogVerification }) {
  const events = of.events === null ? "" : `, ${formatNumber(of.events)} events`;
  return (
    <Badge
      tone="good"
      icon="check"
      word={`The log verifies: ${formatNumber(of.entries)} entries, ${formatNumber(of.certificates)} certificates, ${formatNumber(of.checkpoints)} checkpoints${events}`}
    />
  );
}
