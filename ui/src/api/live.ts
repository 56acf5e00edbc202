import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ROOT } from "./root";

/** Listens to server-sent events and invalidates the queries that they make stale. Returns whether it is connected. */
export function useLiveUpdates(on: boolean): boolean {
  const queries = useQueryClient();
  const [connected, setConnected] = useState(false);
  useEffect(() => {
    if (!on) return;
    const stream = new EventSource(`${ROOT}/api/v1/stream`);
    stream.onopen = () => setConnected(true);
    stream.onerror = () => setConnected(false);
    const invalidate = throttled(() => queries.invalidateQueries({ queryKey: ["lineage"] }));
    stream.addEventListener("run", invalidate);
    stream.addEventListener("task", (event) => updateTask(queries, event as MessageEvent<string>));
    return () => stream.close();
  }, [on, queries]);
  return connected;
}

function updateTask(queries: QueryClient, event: MessageEvent<string>): void {
  const { id, state } = JSON.parse(event.data);
  // The event has no result; when the task ends, the task is fetched again.
  if (state === "running") queries.setQueryData(["task", id], JSON.parse(event.data));
  else queries.invalidateQueries({ queryKey: ["task", id] });
}

/** At most once a second: a thousand runs a second are one reason to look again. */
function throttled(call: () => void): () => void {
  let pending = false;
  return () => {
    if (pending) return;
    pending = true;
    setTimeout(() => {
      pending = false;
      call();
    }, 1000);
  };
}
