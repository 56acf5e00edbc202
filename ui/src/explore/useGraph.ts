/** Combines all responses that the graph needs into cards, edges, rows and highlights. */

import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState } from "react";
import type { Schemas } from "../api/client";
import { run } from "../api/queries";
import { type CardRows, type ColumnPage, type Field, fieldsOf, rowsOf } from "../graph/card";
import { type ColumnPath, columnPath, isOnPath, withHubs, withPath } from "../graph/column-path";
import { type ColumnEdge, drawnColumns, mergeColumns, vertexCover } from "../graph/columns";
import { type Difference, differenceOf } from "../graph/difference";
import { isOpen, manyOpen, STEPS } from "../graph/expansion";
import { type ColumnData, merge } from "../graph/graph-data";
import { type Endpoint, endpointOf, isJob, nodeKey, type Ref } from "../graph/names";
import {
  missingNeighbourhoods,
  type NeighbourhoodRequest,
  type VisibleGraph,
  visibleGraph,
  withRequests,
} from "../graph/visible-graph";
import { closure, columnLinks, impact, neighbourhood, schemaOf } from "./queries";
import { columnOn, type ViewState } from "./view-state";

const MOST_ALSO = 300; // of a long path the nearest; the panel lists all of it
const FEW = 12;
const READABLE = 60;

/** The cards and the edges between them. */
export function useVisibleGraph(where: ViewState, root: Endpoint) {
  const [columns, setColumns] = useState(false);
  const withColumns = columns || manyOpen(where.shape);
  if (withColumns && !columns) setColumns(true); // they stay known when cards are shut again
  const first = useQuery({
    ...neighbourhood(root, where.hops, STEPS[0], where.at, withColumns),
    // Another moment of the same dataset: what is drawn stays until it is known.
    placeholderData: (before, query) => (query?.queryKey[2] === nodeKey(root) ? before : undefined),
  });
  const statedPath = usePath(where);
  const difference = useDifference(where);
  const extraKeys = useExtraKeys(where, root, statedPath, difference);
  const also = useMemo(() => extraKeys.slice(0, MOST_ALSO), [extraKeys]);
  // Most of a path is within three hops: one request instead of one per card.
  const far = also.length > FEW;
  const queries = useQueryClient();
  const neighbourhoodOptions = (of: Endpoint, hops: number, limit: number) => ({
    ...neighbourhood(of, hops, limit, where.at, withColumns),
    // Until the columns arrive, the response without them.
    placeholderData: () => queries.getQueryData(neighbourhood(of, hops, limit, where.at, false).queryKey),
  });
  const wide = useQuery({ ...neighbourhoodOptions(where.of ?? root, 3, STEPS[2]), enabled: far });

  const [requests, setRequests] = useState<NeighbourhoodRequest[]>([]);
  const more = useQueries({
    queries: requests.map(({ key, limit }) => neighbourhoodOptions(endpointOf(key) ?? root, 1, limit)),
    combine: (results) => ({
      answers: results.flatMap((result) => (result.data ? [result.data] : [])),
      awaited: results.some((result) => result.isPending),
      without: results.some((result) => result.isPlaceholderData),
    }),
  });
  const answers = useMemo(
    () => [...more.answers, ...(far && wide.data ? [wide.data] : []), ...(first.data ? [first.data] : [])],
    [more.answers, far, wide.data, first.data],
  );
  const known = useMemo(() => merge(answers), [answers]);
  // The first card is the requested dataset, under its canonical name.
  const rootCard = first.data?.nodes[0];
  const rootKey = rootCard ? nodeKey(rootCard.endpoint) : null;
  const path = useMemo(() => statedPath && withHubs(statedPath, known), [statedPath, known]);
  const shown = useMemo(() => {
    const hubs = path?.nodes.slice(statedPath?.nodes.length) ?? [];
    return visibleGraph(known, {
      root: rootKey ?? "",
      hops: where.hops,
      shape: where.shape,
      also: [...also, ...hubs],
    });
  }, [known, rootKey, where.hops, where.shape, also, path, statedPath]);
  const missing = useMemo(() => {
    if (!first.data || (far && wide.isPending)) return [];
    const complete = completeNodes(first.data, far ? wide.data : undefined);
    return missingRequests(
      shown,
      complete,
      also.filter((key) => !known.cards.has(key)),
    );
  }, [shown, known, also, first.data, far, wide.isPending, wide.data]);
  // Each response may reveal missing neighbourhoods. Requests are only added, so this ends.
  const next = withRequests(requests, missing);
  if (next !== requests) setRequests(next);
  const whole = !more.awaited && next === requests && !(far && wide.isPending);
  const leftOut = shown.leftOut + extraKeys.length - also.length;
  const columnsComing =
    withColumns &&
    (first.isPending || first.isPlaceholderData || more.awaited || more.without || wide.isPlaceholderData);
  return { first, shown, known, columnsComing, path, difference, rootKey, whole, leftOut };
}

/** Cards that the graph shows beside those around the root: the selected one, a path, a comparison, an impact. */
function useExtraKeys(
  where: ViewState,
  root: Endpoint,
  path: ColumnPath | null,
  difference: Difference | null,
): readonly string[] {
  const affected = useQuery({ ...impact(where.on ?? root, columnOn(where), where.at), enabled: where.impact });
  return useMemo(() => {
    const keys = new Set<string>(where.on ? [nodeKey(where.on)] : []);
    for (const key of path?.nodes ?? []) keys.add(key);
    for (const key of difference?.nodes ?? []) keys.add(key);
    if (where.impact) for (const one of affected.data?.affected ?? []) keys.add(nodeKey(one.endpoint));
    return [...keys];
  }, [where.on, where.impact, path, difference, affected.data]);
}

/** Neighbourhoods to request: those with missing edges, and those of unknown cards. A job has none. */
function missingRequests(
  shown: VisibleGraph,
  complete: ReadonlySet<string>,
  unknown: readonly string[],
): NeighbourhoodRequest[] {
  const requests = unknown.map((key) => ({ key, limit: STEPS[1] }));
  return [...missingNeighbourhoods(shown, complete), ...requests].filter(({ key }) => {
    const endpoint = endpointOf(key);
    return endpoint !== null && !isJob(endpoint);
  });
}

/** Nodes between which every edge is known: those of the first response, or of a wider one that contains it. */
function completeNodes(first: Schemas["Neighbourhood"], wide: Schemas["Neighbourhood"] | undefined): Set<string> {
  const near = new Set(first.nodes.map((card) => nodeKey(card.endpoint)));
  const all = new Set((wide?.nodes ?? []).map((card) => nodeKey(card.endpoint)));
  return [...near].every((key) => all.has(key)) ? all : near;
}

function usePath({ of: whose, column, at }: ViewState): ColumnPath | null {
  const lit = whose !== null && column !== null;
  const of = whose ?? { namespace: "", name: "" };
  const up = useQuery({ ...closure(of, column ?? "", "upstream", at), enabled: lit });
  const down = useQuery({ ...closure(of, column ?? "", "downstream", at), enabled: lit });
  return useMemo(
    () =>
      whose && column !== null && up.data && down.data
        ? columnPath(whose, column, up.data.nodes, down.data.nodes)
        : null,
    [whose, column, up.data, down.data],
  );
}

function useDifference({ before, after }: ViewState): Difference | null {
  const both = before !== null && after !== null;
  const one = useQuery({ ...run(before ?? ""), enabled: both });
  const other = useQuery({ ...run(after ?? ""), enabled: both });
  return useMemo(
    () => (both && one.data && other.data ? differenceOf(one.data, other.data) : null),
    [both, one.data, other.data],
  );
}

export interface GraphRows {
  rows: Map<string, CardRows>;
  columns: ReturnType<typeof drawnColumns>;
}

/** The rows of the cards, and the column edges that run between them. */
export function useRows(
  shown: VisibleGraph,
  known: ColumnData,
  coming: boolean,
  where: ViewState,
  path: ColumnPath | null,
  difference: Difference | null,
  leaves: ReadonlyMap<string, ColumnPage>,
): GraphRows {
  const open = useMemo(() => {
    // A long path shows its own edges only; types and further edges are loaded for paths short enough to read.
    const onPath = path && path.nodes.length <= READABLE ? path.columns : null;
    return [...shown.nodes.keys()].filter((key) => isOpen(where.shape, key) || onPath?.has(key));
  }, [shown, where.shape, path]);
  const openSets = useMemo(() => {
    // The schema at an earlier time comes from the dataset's versions.
    const hasSchema = (key: string) => where.at === null && known.schemas.has(key);
    return coming ? [] : open.filter((key) => !hasSchema(key) && !isJob(endpointOf(key) as Endpoint));
  }, [open, known, coming, where.at]);
  const details = useQueries({
    queries: openSets.map((key) => schemaOf(endpointOf(key) as Endpoint, where.at)),
    // Paired with the key, because results lag behind requests.
    combine: (results) =>
      results.flatMap(({ data }, place): [string, Field[]][] => (data ? [[openSets[place] ?? "", data]] : [])),
  });
  const linkQueries = useMemo(() => {
    const withColumnKeys = new Set(coming ? [] : open);
    const unknown = shown.edges.filter(
      ({ id, from, to }) => (withColumnKeys.has(from) || withColumnKeys.has(to)) && !known.whole.has(id),
    );
    return vertexCover(unknown).filter((key) => !isJob(endpointOf(key) as Endpoint));
  }, [shown.edges, open, known, coming]);
  const links = useQueries({
    queries: linkQueries.map((key) => columnLinks(endpointOf(key) as Endpoint, where.at)),
    combine: (results) => results.flatMap((result) => (result.data ? [result.data] : [])),
  });
  // Many answers come at once: cards and panning go before the edges of columns.
  const deferredLinks = useDeferredValue(links);
  const deferredDetails = useDeferredValue(details);
  const edges = useMemo(
    () => withExtraEdges(mergeColumns([...known.links, ...deferredLinks]), path, difference),
    [known, deferredLinks, path, difference],
  );
  const fields = useMemo(() => {
    const namesByCard = columnNamesByCard(edges.values(), difference);
    const byDataset = new Map<string, Field[]>();
    const add = (key: string, schema: readonly Field[]) =>
      byDataset.set(key, fieldsOf(schema, namesByCard.get(key) ?? []));
    if (where.at === null) for (const [key, schema] of known.schemas) add(key, schema);
    for (const [key, schema] of deferredDetails) add(key, schema);
    return byDataset;
  }, [edges, known, deferredDetails, where.at, difference]);
  const rows = useMemo(() => {
    const byCard = new Map<string, CardRows>();
    for (const [key, { card }] of shown.nodes) {
      const opened = isOpen(where.shape, key);
      byCard.set(
        key,
        rowsOf(fields.get(key) ?? null, card.columns, opened, path?.columns.get(key) ?? null, leaves.get(key)),
      );
    }
    return byCard;
  }, [shown, where.shape, fields, path, leaves]);
  const columns = useMemo(() => {
    const seen = new Map([...rows].map(([key, { fields: list }]) => [key, new Set(list.map((field) => field.name))]));
    return drawnColumns(edges.values(), seen, path && ((edge) => isOnPath(path, edge)));
  }, [edges, rows, path]);
  return { rows, columns };
}

/** Adds the edges of the path and those of the compared run. */
function withExtraEdges(
  edges: Map<string, ColumnEdge>,
  path: ColumnPath | null,
  difference: Difference | null,
): Map<string, ColumnEdge> {
  if (path) withPath(edges, path);
  for (const [id, { from, to }] of difference?.columnEdges ?? []) {
    if (!edges.has(id)) edges.set(id, { from, to, derivations: [] });
  }
  return edges;
}

function columnNamesByCard(edges: Iterable<ColumnEdge>, difference: Difference | null): Map<string, string[]> {
  const namesByCard = new Map<string, string[]>();
  const add = ({ node, column }: Ref) => {
    if (column === null) return;
    const names = namesByCard.get(node);
    if (names) names.push(column);
    else namesByCard.set(node, [column]);
  };
  for (const { from, to } of edges) {
    add(from);
    add(to);
  }
  for (const { node, column } of difference?.columns.values() ?? []) add({ node, column });
  return namesByCard;
}
