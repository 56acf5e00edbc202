/** Queries that several views share. */

import { queryOptions } from "@tanstack/react-query";
import { client, responseData, setCsrfToken } from "./client";

export interface DatasetName {
  namespace: string;
  name: string;
}

export const session = queryOptions({
  queryKey: ["session"],
  queryFn: async () => {
    const current = await responseData(client.GET("/api/v1/session"));
    setCsrfToken(current.csrf_token ?? null);
    return current;
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

export const dataset = (of: DatasetName) =>
  queryOptions({
    queryKey: ["lineage", "dataset", of.namespace, of.name],
    queryFn: () => responseData(client.GET("/api/v1/datasets/{namespace}/{name}", { params: { path: of } })),
  });

export const quality = (of: DatasetName) =>
  queryOptions({
    queryKey: ["lineage", "quality", of.namespace, of.name],
    queryFn: () =>
      responseData(
        client.GET("/api/v1/datasets/{namespace}/{name}/quality", { params: { path: of, query: { limit: 20 } } }),
      ),
  });

export const run = (id: string) =>
  queryOptions({
    queryKey: ["lineage", "run", id],
    queryFn: () => responseData(client.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: id } } })),
  });

export const task = (id: string) =>
  queryOptions({
    queryKey: ["task", id],
    queryFn: () => responseData(client.GET("/api/v1/tasks/{task_id}", { params: { path: { task_id: id } } })),
    // Server-sent events update it sooner; polling covers connections without them.
    refetchInterval: (query) => (query.state.data?.state === "running" ? 1000 : false),
  });
