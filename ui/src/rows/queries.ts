/** Row queries. */

import { queryOptions } from "@tanstack/react-query";
import { client, responseData, type Schemas } from "../api/client";
import type { QualifiedName } from "../app/addresses";
import { conditionFor, countDistinct, identifyingColumns, mentionedColumns } from "./conditions";
import { parseExactJson } from "./exact-json";
import type { Question } from "./question";
import type { Row } from "./values";

export type RowAvailability = Schemas["AskableRows"];
export type Task = Schemas["Task"];
export type TracedRows = Schemas["TracedRows"];

const ROWS = 100; // shown of each dataset

export const rowAvailability = (of: QualifiedName) =>
  queryOptions({
    queryKey: ["lineage", "askable", of.namespace, of.name],
    queryFn: () =>
      responseData(
        client.GET("/api/v1/rows/askable", { params: { query: { dataset: of.name, namespace: of.namespace } } }),
      ),
  });

export const links = (of: QualifiedName) =>
  queryOptions({
    queryKey: ["lineage", "links", of.namespace, of.name],
    queryFn: async () => {
      const query = { dataset: of.name, namespace: of.namespace, limit: 5000 };
      return (await responseData(client.GET("/api/v1/graph/columns", { params: { query } }))).items;
    },
  });

/** The upstream or downstream datasets: row answers name a dataset by one text, and this list splits namespace and name. */
export const relatedDatasets = (of: QualifiedName, side: "upstream" | "downstream") =>
  queryOptions({
    queryKey: ["lineage", "relatives", side, of.namespace, of.name],
    queryFn: async () => {
      const params = { params: { query: { dataset: of.name, namespace: of.namespace } } };
      const request =
        side === "upstream"
          ? client.GET("/api/v1/lineage/upstream", params)
          : client.GET("/api/v1/lineage/downstream", params);
      const endpoints = (await responseData(request)).nodes.map((node) => node.endpoint);
      return endpoints.filter((endpoint) => !("type" in endpoint && endpoint.type === "job"));
    },
  });

export interface RowAnswer {
  /** By pair tables. */
  traced: TracedRows | null;
  /** By Spark: the answer comes with the task. */
  task: Task | null;
}

export async function trace(of: QualifiedName, condition: string, depth: number | null = null): Promise<RowAnswer> {
  const text = await responseData(
    client.POST("/api/v1/rows/trace", {
      body: { dataset: of.name, namespace: of.namespace, condition: condition.trim() || null, depth, rows: ROWS },
      parseAs: "text",
    }),
  );
  const taskResult = parseExactJson(text as unknown as string) as TracedRows | Task;
  return "sources" in taskResult ? { traced: taskResult, task: null } : { traced: null, task: taskResult };
}

/** A trace that pair tables answer, kept as what was read. */
export const pairTableTrace = (of: QualifiedName, condition: string) =>
  queryOptions({
    // Never refetched automatically: pair tables do not change, and without them the request would start Spark.
    queryKey: ["rows", "trace", of.namespace, of.name, condition],
    queryFn: () => trace(of, condition),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

export interface FurtherTraceResult {
  traced: TracedRows;
  /** The number of rows that it covers: the first ones. */
  taken: number;
}

/** Where rows of an answer came from in their turn, by the pair tables of the run that wrote them. */
export const furtherTrace = (of: QualifiedName, rows: readonly Row[], identity: readonly string[]) =>
  queryOptions({
    queryKey: ["rows", "behind", of.namespace, of.name, JSON.stringify(rows), identity],
    queryFn: async (): Promise<FurtherTraceResult | null> => {
      // A short condition names more rows than a long one may. It is good if it finds these rows and no others.
      for (const by of [identifyingColumns(rows, identity), identity]) {
        const named = conditionFor(rows, by);
        if (named === null) continue;
        const { traced } = await trace(of, named.condition);
        if (traced === null) return null;
        const wanted = countDistinct(rows.slice(0, named.taken), identity);
        if (traced.count <= wanted || by === identity) return { traced, taken: named.taken };
      }
      return null;
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Submits any kind of row query to Spark. */
export async function submitToSpark(question: Question): Promise<RowAnswer> {
  const { dataset, condition, depth, source } = question;
  if (question.ask !== "forward" && question.ask !== "why-not") return trace(dataset, condition, depth);
  const body = {
    dataset: dataset.name,
    namespace: dataset.namespace,
    condition: condition.trim() || null,
    rows: ROWS,
  };
  const request =
    question.ask === "forward"
      ? client.POST("/api/v1/rows/forward", { body: { ...body, depth } })
      : client.POST("/api/v1/rows/why-not", {
          body: { ...body, source: source?.name ?? "", source_namespace: source?.namespace ?? null },
        });
  return { traced: null, task: await responseData<Task>(request as Promise<{ data?: Task }>) };
}

/** The result of a task, with exact numbers. */
export const taskResult = (task: string) =>
  queryOptions({
    queryKey: ["task", task, "result"],
    queryFn: async () => {
      const request = client.GET("/api/v1/tasks/{task_id}", { params: { path: { task_id: task } }, parseAs: "text" });
      return parseExactJson((await responseData(request)) as unknown as string) as Task;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Whether pair tables can answer. They know rows by some columns only; a condition on others takes Spark. */
export function isInstant(can: RowAvailability, condition: string): boolean {
  if (!can.instant.possible) return false;
  const others = can.columns.map((column) => column.name).filter((name) => !can.identity.includes(name));
  return mentionedColumns(condition, others).length === 0;
}
