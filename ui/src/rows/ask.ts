/** The questions about rows, as they are put to the server. */

import { queryOptions } from "@tanstack/react-query";
import { answer, client, type Schemas } from "../api/client";
import type { Named } from "../app/places";
import { different, naming, spokenOf, telling } from "./conditions";
import { readExactly } from "./exact";
import type { Question } from "./place";
import type { Row } from "./values";

export type Askable = Schemas["AskableRows"];
export type Task = Schemas["Task"];
export type Traced = Schemas["TracedRows"];

const ROWS = 100; // shown of each dataset

export const askable = (of: Named) =>
  queryOptions({
    queryKey: ["lineage", "askable", of.namespace, of.name],
    queryFn: () =>
      answer(client.GET("/api/v1/rows/askable", { params: { query: { dataset: of.name, namespace: of.namespace } } })),
  });

export const links = (of: Named) =>
  queryOptions({
    queryKey: ["lineage", "links", of.namespace, of.name],
    queryFn: async () => {
      const query = { dataset: of.name, namespace: of.namespace, limit: 5000 };
      return (await answer(client.GET("/api/v1/graph/columns", { params: { query } }))).items;
    },
  });

/** The datasets on its one side: answers name them by one text, and this tells where the namespace ends. */
export const relatives = (of: Named, side: "upstream" | "downstream") =>
  queryOptions({
    queryKey: ["lineage", "relatives", side, of.namespace, of.name],
    queryFn: async () => {
      const params = { params: { query: { dataset: of.name, namespace: of.namespace } } };
      const asked =
        side === "upstream"
          ? client.GET("/api/v1/lineage/upstream", params)
          : client.GET("/api/v1/lineage/downstream", params);
      const endpoints = (await answer(asked)).nodes.map((node) => node.endpoint);
      return endpoints.filter((endpoint) => !("type" in endpoint && endpoint.type === "job"));
    },
  });

export interface Asked {
  /** By pair tables. */
  traced: Traced | null;
  /** By Spark: the answer comes with the task. */
  task: Task | null;
}

export async function trace(of: Named, condition: string, depth: number | null = null): Promise<Asked> {
  const told = await answer(
    client.POST("/api/v1/rows/trace", {
      body: { dataset: of.name, namespace: of.namespace, condition: condition.trim() || null, depth, rows: ROWS },
      parseAs: "text",
    }),
  );
  const found = readExactly(told as unknown as string) as Traced | Task;
  return "sources" in found ? { traced: found, task: null } : { traced: null, task: found };
}

/** A trace that pair tables answer, kept as what was read. */
export const instantly = (of: Named, condition: string) =>
  queryOptions({
    // Not asked again by itself: what tables tell does not change, and were they gone, it would start Spark.
    queryKey: ["rows", "trace", of.namespace, of.name, condition],
    queryFn: () => trace(of, condition),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

export interface Behind {
  traced: Traced;
  /** Of how many of the rows it tells: the first ones. */
  taken: number;
}

/** Where rows of an answer came from in their turn, by the pair tables of the run that wrote them. */
export const behind = (of: Named, rows: readonly Row[], identity: readonly string[]) =>
  queryOptions({
    queryKey: ["rows", "behind", of.namespace, of.name, JSON.stringify(rows), identity],
    queryFn: async (): Promise<Behind | null> => {
      // A short condition names more rows than a long one may. It is good if it finds these rows and no others.
      for (const by of [telling(rows, identity), identity]) {
        const named = naming(rows, by);
        if (named === null) continue;
        const { traced } = await trace(of, named.condition);
        if (traced === null) return null;
        const meant = different(rows.slice(0, named.taken), identity);
        if (traced.count <= meant || by === identity) return { traced, taken: named.taken };
      }
      return null;
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Put to Spark, whichever it is. */
export async function askSpark(question: Question): Promise<Asked> {
  const { dataset, condition, depth, source } = question;
  if (question.ask !== "forward" && question.ask !== "why-not") return trace(dataset, condition, depth);
  const meant = {
    dataset: dataset.name,
    namespace: dataset.namespace,
    condition: condition.trim() || null,
    rows: ROWS,
  };
  const asked =
    question.ask === "forward"
      ? client.POST("/api/v1/rows/forward", { body: { ...meant, depth } })
      : client.POST("/api/v1/rows/why-not", {
          body: { ...meant, source: source?.name ?? "", source_namespace: source?.namespace ?? null },
        });
  return { traced: null, task: await answer<Task>(asked as Promise<{ data?: Task }>) };
}

/** What a task found, its numbers as they were written. */
export const found = (task: string) =>
  queryOptions({
    queryKey: ["task", task, "found"],
    queryFn: async () => {
      const asked = client.GET("/api/v1/tasks/{task_id}", { params: { path: { task_id: task } }, parseAs: "text" });
      return readExactly((await answer(asked)) as unknown as string) as Task;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Whether pair tables can answer. They know rows by some columns only; a condition on others takes Spark. */
export function isInstant(can: Askable, condition: string): boolean {
  if (!can.instant.possible) return false;
  const others = can.columns.map((column) => column.name).filter((name) => !can.identity.includes(name));
  return spokenOf(condition, others).length === 0;
}
