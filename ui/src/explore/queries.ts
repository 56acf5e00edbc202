/** Queries of the explorer. */

import { queryOptions } from "@tanstack/react-query";
import { client, responseData, type Schemas } from "../api/client";
import { type Field, schemaAt } from "../graph/card";
import { type Endpoint, nodeKey } from "../graph/names";

type Moment = string | null;
type Direction = Schemas["Direction"];

const datasetParams = (of: Endpoint, at: Moment) => ({
  dataset: of.name,
  namespace: of.namespace,
  ...(at === null ? {} : { as_of: at }),
});

/** `columns`: include the columns of all cards and all column edges, instead of one request per card. */
export const neighbourhood = (of: Endpoint, hops: number, limit: number, at: Moment, columns: boolean) =>
  queryOptions({
    queryKey: ["lineage", "around", nodeKey(of), hops, limit, at, columns],
    queryFn: () => {
      const query = {
        ...datasetParams(of, at),
        upstream: hops,
        downstream: hops,
        limit,
        ...(columns ? { columns } : {}),
      };
      return responseData(client.GET("/api/v1/graph/around", { params: { query } }));
    },
  });

/** The columns of one dataset, and no more of it: all that is known of a wide table is many times as long. */
export const schemaOf = (of: Endpoint, at: Moment) =>
  queryOptions({
    queryKey: ["lineage", "schema", nodeKey(of), at],
    queryFn: async (): Promise<Field[]> => {
      if (at === null) {
        const query = { ...datasetParams(of, at), upstream: 0, downstream: 0, columns: true };
        const { nodes } = await responseData(client.GET("/api/v1/graph/around", { params: { query } }));
        const schema = nodes[0]?.schema;
        if (schema) return schema;
      }
      const path = { namespace: of.namespace, name: of.name };
      return schemaAt(await responseData(client.GET("/api/v1/datasets/{namespace}/{name}", { params: { path } })), at);
    },
  });

const PAGES = 5; // of 5,000: what is more than that no card can show

export const columnLinks = (of: Endpoint, at: Moment) =>
  queryOptions({
    queryKey: ["lineage", "column links", nodeKey(of), at],
    queryFn: async () => {
      const links: Schemas["ColumnLink"][] = [];
      let cursor: string | null = null;
      for (let page = 0; page < PAGES; page += 1) {
        const query = { ...datasetParams(of, at), limit: 5000, ...(cursor === null ? {} : { cursor }) };
        const response: { items: Schemas["ColumnLink"][]; next: string | null } = await responseData(
          client.GET("/api/v1/graph/columns", { params: { query } }),
        );
        links.push(...response.items);
        cursor = response.next;
        if (cursor === null) break;
      }
      return links;
    },
  });

export interface ClosureNodes {
  nodes: Schemas["Node"][];
  truncated: boolean;
}

/** What a column comes from, or goes into; all of it. */
export const closure = (of: Endpoint, column: string, direction: Direction, at: Moment) =>
  queryOptions({
    queryKey: ["lineage", "closure", nodeKey(of), column, direction, at],
    queryFn: () =>
      allNodes((cursor) =>
        responseData(
          client.GET("/api/v1/lineage/columns", {
            params: { query: { ...datasetParams(of, at), column, direction, ...cursor } },
          }),
        ),
      ),
  });

/** What a partition comes from, or goes into. */
export const partitionClosure = (of: Endpoint, partition: string, direction: Direction, at: Moment) =>
  queryOptions({
    queryKey: ["lineage", "partition", nodeKey(of), partition, direction, at],
    queryFn: () =>
      allNodes((cursor) => {
        const query = { ...datasetParams(of, at), partition, ...cursor };
        return direction === "upstream"
          ? responseData(client.GET("/api/v1/lineage/upstream", { params: { query } }))
          : responseData(client.GET("/api/v1/lineage/downstream", { params: { query } }));
      }),
  });

interface NodesPage {
  nodes: Schemas["Node"][];
  truncated: boolean;
  next: string | null;
}

async function allNodes(fetchPage: (cursor: { cursor?: string }) => Promise<NodesPage>): Promise<ClosureNodes> {
  const nodes: Schemas["Node"][] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES; page += 1) {
    const response: NodesPage = await fetchPage(cursor === null ? {} : { cursor });
    nodes.push(...response.nodes);
    cursor = response.next;
    if (cursor === null) return { nodes, truncated: response.truncated };
  }
  return { nodes, truncated: true };
}

export interface Impact {
  affected: Schemas["Affected"][];
  readers: Schemas["Job"][];
  truncated: boolean;
}

export const impact = (of: Endpoint, column: string | null, at: Moment) =>
  queryOptions({
    queryKey: ["lineage", "impact", nodeKey(of), column, at],
    queryFn: async (): Promise<Impact> => {
      const affected: Schemas["Affected"][] = [];
      let cursor: string | null = null;
      for (let page = 0; ; page += 1) {
        const query = {
          ...datasetParams(of, at),
          ...(column === null ? {} : { column }),
          ...(cursor === null ? {} : { cursor }),
        };
        const response: Impact & { next: string | null } = await responseData(
          client.GET("/api/v1/lineage/impact", { params: { query } }),
        );
        affected.push(...response.affected);
        cursor = response.next;
        if (cursor === null || page === PAGES)
          return { affected, readers: response.readers, truncated: response.truncated || cursor !== null };
      }
    },
  });

export const runsOf = (of: Endpoint, at: Moment) =>
  queryOptions({
    queryKey: ["lineage", "runs of", nodeKey(of), at],
    queryFn: () => {
      const query = {
        dataset: of.name,
        dataset_namespace: of.namespace,
        limit: 50,
        ...(at === null ? {} : { until: at }),
      };
      return responseData(client.GET("/api/v1/runs", { params: { query } }));
    },
  });
