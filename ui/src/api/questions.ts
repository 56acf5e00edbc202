/** Questions that several views ask, with the key under which their answers are kept. */

import { queryOptions } from "@tanstack/react-query";
import { answer, client, keepToken } from "./client";

export interface NamedDataset {
  namespace: string;
  name: string;
}

export const session = queryOptions({
  queryKey: ["session"],
  queryFn: async () => {
    const told = await answer(client.GET("/api/v1/session"));
    keepToken(told.csrf_token ?? null);
    return told;
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

export const dataset = (of: NamedDataset) =>
  queryOptions({
    queryKey: ["lineage", "dataset", of.namespace, of.name],
    queryFn: () => answer(client.GET("/api/v1/datasets/{namespace}/{name}", { params: { path: of } })),
  });

export const quality = (of: NamedDataset) =>
  queryOptions({
    queryKey: ["lineage", "quality", of.namespace, of.name],
    queryFn: () =>
      answer(client.GET("/api/v1/datasets/{namespace}/{name}/quality", { params: { path: of, query: { limit: 20 } } })),
  });

export const run = (id: string) =>
  queryOptions({
    queryKey: ["lineage", "run", id],
    queryFn: () => answer(client.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: id } } })),
  });

export const task = (id: string) =>
  queryOptions({
    queryKey: ["task", id],
    queryFn: () => answer(client.GET("/api/v1/tasks/{task_id}", { params: { path: { task_id: id } } })),
    // Server-sent events bring it nearer to the moment; this goes on where they cannot.
    refetchInterval: (query) => (query.state.data?.state === "running" ? 1000 : false),
  });
