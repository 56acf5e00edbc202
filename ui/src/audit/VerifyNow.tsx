import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answer, client } from "../api/client";
import { task } from "../api/questions";
import { Wrong } from "../parts/Answer";
import { Mark } from "../parts/State";
import { amount } from "../parts/words";

interface Verified {
  entries: number;
  checkpoints: number;
  certificates: number;
  events: number | null;
}

/** Has the server recompute all of it. What one run left can also be recomputed here, on the run's own view. */
export function VerifyNow() {
  const [id, setId] = useState<string | null>(null);
  const start = useMutation({
    mutationFn: () => answer(client.POST("/api/v1/log/verify")),
    onSuccess: (started) => setId((started as { id: string }).id),
  });
  const asked = useQuery({ ...task(id ?? ""), enabled: id !== null });
  const state = id === null ? null : (asked.data?.state ?? "running");
  return (
    <div className="row wrap" aria-live="polite">
      {state === "running" && <Going done={asked.data?.progress?.done ?? 0} total={asked.data?.progress?.total ?? 0} />}
      {state === "succeeded" && <Holds of={asked.data?.result as Verified} />}
      {state === "failed" && (
        <Mark tone="bad" icon="cross" word={String(asked.data?.problem?.detail ?? "It could not be verified.")} />
      )}
      {start.error && <Wrong error={start.error} />}
      <button type="button" onClick={() => start.mutate()} disabled={start.isPending || state === "running"}>
        Verify now
      </button>
    </div>
  );
}

function Going({ done, total }: { done: number; total: number }) {
  return (
    <span className="row dim">
      <progress aria-label="Verified so far" value={total > 0 ? done : undefined} max={total || undefined} />
      {total > 0 ? `${amount(done)} of ${amount(total)} entries` : "Verifying"}
    </span>
  );
}

function Holds({ of }: { of: Verified }) {
  const events = of.events === null ? "" : `, ${amount(of.events)} events`;
  return (
    <Mark
      tone="good"
      icon="check"
      word={`All of it holds: ${amount(of.entries)} entries, ${amount(of.certificates)} certificates, ${amount(of.checkpoints)} checkpoints${events}`}
    />
  );
}
