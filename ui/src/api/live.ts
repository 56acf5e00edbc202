import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ROOT } from "./root";

/** Listens to what happens, and has the views ask again for what that makes old. */
export function useLive(on: boolean): boolean {
  const queries = useQueryClient();
  const [heard, setHeard] = useState(false);
  useEffect(() => {
    if (!on) return;
    const stream = new EventSource(`${ROOT}/api/v1/stream`);
    stream.onopen = () => setHeard(true);
    stream.onerror = () => setHeard(false);
    const old = lazily(() => queries.invalidateQueries({ queryKey: ["lineage"] }));
    stream.addEventListener("run", old);
    stream.addEventListener("task", (event) => tell(queries, event as MessageEvent<string>));
    return () => stream.close();
  }, [on, queries]);
  return heard;
}

function tell(queries: QueryClient, event: MessageEvent<string>): void {
  const { id, state } = JSON.parse(event.data);
  // What is told leaves the result out; at the end it is asked for.
  if (state === "running") queries.setQueryData(["task", id], JSON.parse(event.data));
  else queries.invalidateQueries({ queryKey: ["task", id] });
}

/** At most once a second: a thousand runs a second are one reason to look again. */
function lazily(call: () => void): () => void {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    setTimeout(() => {
      waits = false;
      call();
    }, 1000);
  };
}
