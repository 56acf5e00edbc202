/** What the explorer asks, with the keys under which the answers are kept. */

import { queryOptions } from "@tanstack/react-query";
import { answer, client, type Schemas } from "../api/client";
import { type Field, schemaAt } from "../graph/card";
import { type Endpoint, nodeKey } from "../graph/names";

type Moment = string | null;
type Direction = Schemas["Direction"];

const asked = (of: Endpoint, at: Moment) => ({
  dataset: of.name,
  namespace: of.namespace,
  ...(at === null ? {} : { as_of: at }),
});

/** `columns`: with those of all cards and every edge between them, which would else be one question for each card. */
export const around = (of: Endpoint, hops: number, limit: number, at: Moment, columns: boolean) =>
  queryOptions({
    queryKey: ["lineage", "around", nodeKey(of), hops, limit, at, columns],
    queryFn: () => {
      const query = { ...asked(of, at), upstream: hops, downstream: hops, limit, ...(columns ? { columns } : {}) };
      return answer(client.GET("/api/v1/graph/around", { params: { query } }));
    },
  });

/** The columns of one dataset, and no more of it: all that is known of a wide table is many times as long. */
export const schemaOf = (of: Endpoint, at: Moment) =>
  queryOptions({
    queryKey: ["lineage", "schema", nodeKey(of), at],
    queryFn: async (): Promise<Field[]> => {
      if (at === null) {
        const query = { ...asked(of, at), upstream: 0, downstream: 0, columns: true };
        const { nodes } = await answer(client.GET("/api/v1/graph/around", { params: { query } }));
        const schema = nodes[0]?.schema;
        if (schema) return schema;
      }
      const path = { namespace: of.namespace, name: of.name };
      return schemaAt(await answer(client.GET("/api/v1/datasets/{namespace}/{name}", { params: { path } })), at);
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
        const query = { ...asked(of, at), limit: 5000, ...(cursor === null ? {} : { cursor }) };
        const got: { items: Schemas["ColumnLink"][]; next: string | null } = await answer(
          client.GET("/api/v1/graph/columns", { params: { query } }),
        );
        links.push(...got.items);
        cursor = got.next;
        if (cursor === null) break;
      }
      return links;
    },
  });

export interface Reached {
  nodes: Schemas["Node"][];
  truncated: boolean;
}

/** What a column comes from, or goes into; all of it. */
export const closure = (of: Endpoint, column: string, direction: Direction, at: Moment) =>
  queryOptions({
    queryKey: ["lineage", "closure", nodeKey(of), column, direction, at],
    queryFn: () =>
      allNodes((cursor) =>
        answer(
          client.GET("/api/v1/lineage/columns", {
            params: { query: { ...asked(of, at), column, direction, ...cursor } },
          }),
        ),
      ),
  });

/** What a partition comes from, or goes into. */
export const ofPartition = (of: Endpoint, partition: string, direction: Direction, at: Moment) =>
  queryOptions({
    queryKey: ["lineage", "partition", nodeKey(of), partition, direction, at],
    queryFn: () =>
      allNodes((cursor) => {
        const query = { ...asked(of, at), partition, ...cursor };
        return direction === "upstream"
          ? answer(client.GET("/api/v1/lineage/upstream", { params: { query } }))
          : answer(client.GET("/api/v1/lineage/downstream", { params: { query } }));
      }),
  });

interface NodesPage {
  nodes: Schemas["Node"][];
  truncated: boolean;
  next: string | null;
}

async function allNodes(ask: (cursor: { cursor?: string }) => Promise<NodesPage>): Promise<Reached> {
  const nodes: Schemas["Node"][] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES; page += 1) {
    const got: NodesPage = await ask(cursor === null ? {} : { cursor });
    nodes.push(...got.nodes);
    cursor = got.next;
    if (cursor === null) return { nodes, truncated: got.truncated };
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
          ...asked(of, at),
          ...(column === null ? {} : { column }),
          ...(cursor === null ? {} : { cursor }),
        };
        const got: Impact & { next: string | null } = await answer(
          client.GET("/api/v1/lineage/impact", { params: { query } }),
        );
        affected.push(...got.affected);
        cursor = got.next;
        if (cursor === null || page === PAGES)
          return { affected, readers: got.readers, truncated: got.truncated || cursor !== null };
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
      return answer(client.GET("/api/v1/runs", { params: { query } }));
    },
  });
