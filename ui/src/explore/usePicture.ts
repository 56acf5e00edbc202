/** All answers that a picture needs, put together: which cards and edges, with which rows, lit and marked how. */

import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState } from "react";
import type { Schemas } from "../api/client";
import { run } from "../api/questions";
import { type Field, fieldsOf, type Leaf, type Rows, rowsOf } from "../graph/card";
import { type ColumnEdge, cover, drawnColumns, mergeColumns } from "../graph/columns";
import { type Difference, differenceOf } from "../graph/difference";
import { type KnownColumns, merge } from "../graph/knowledge";
import { isLit, litPath, type Path, withHubs, withPath } from "../graph/lit";
import { type Endpoint, endpointOf, isJob, nodeKey, type Ref } from "../graph/names";
import { isOpen, manyOpen, STEPS } from "../graph/shape";
import { type Shown, show, type Wanted, wanted, withWanted } from "../graph/shown";
import { around, closure, columnLinks, impact, schemaOf } from "./questions";
import { columnOn, type Where } from "./where";

const MOST_ALSO = 300; // of a long path the nearest; the panel lists all of it
const FEW = 12;
const READABLE = 60;

/** The cards and the edges between them. */
export function useShown(where: Where, root: Endpoint) {
  const [columns, setColumns] = useState(false);
  const withColumns = columns || manyOpen(where.shape);
  if (withColumns && !columns) setColumns(true); // they stay known when cards are shut again
  const first = useQuery({
    ...around(root, where.hops, STEPS[0], where.at, withColumns),
    // Another moment of the same dataset: what is drawn stays until it is known.
    placeholderData: (before, query) => (query?.queryKey[2] === nodeKey(root) ? before : undefined),
  });
  const stated = usePath(where);
  const difference = useDifference(where);
  const struck = useQuery({ ...impact(where.on ?? root, columnOn(where), where.at), enabled: where.impact });
  const asWell = useMemo(() => {
    const keys = new Set<string>(where.on ? [nodeKey(where.on)] : []);
    for (const key of stated?.nodes ?? []) keys.add(key);
    for (const key of difference?.nodes ?? []) keys.add(key);
    if (where.impact) for (const one of struck.data?.affected ?? []) keys.add(nodeKey(one.endpoint));
    return [...keys];
  }, [where.on, where.impact, stated, difference, struck.data]);
  const also = useMemo(() => asWell.slice(0, MOST_ALSO), [asWell]);
  // Most of a path lies within three hops: one answer instead of one for each card.
  const far = also.length > FEW;
  const queries = useQueryClient();
  const askAround = (of: Endpoint, hops: number, limit: number) => ({
    ...around(of, hops, limit, where.at, withColumns),
    // Until the columns are there, what was told without them.
    placeholderData: () => queries.getQueryData(around(of, hops, limit, where.at, false).queryKey),
  });
  const wide = useQuery({ ...askAround(where.of ?? root, 3, STEPS[2]), enabled: far });

  const [asked, setAsked] = useState<Wanted[]>([]);
  const more = useQueries({
    queries: asked.map(({ key, limit }) => askAround(endpointOf(key) ?? root, 1, limit)),
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
  // The first card is the dataset asked for, under the name that it goes by.
  const rootCard = first.data?.nodes[0];
  const rootKey = rootCard ? nodeKey(rootCard.endpoint) : null;
  const path = useMemo(() => stated && withHubs(stated, known), [stated, known]);
  const shown = useMemo(() => {
    const onPath = path === stated ? [] : (path?.nodes ?? []).slice(0, MOST_ALSO);
    return show(known, { root: rootKey ?? "", hops: where.hops, shape: where.shape, also: [...also, ...onPath] });
  }, [known, rootKey, where.hops, where.shape, also, path, stated]);
  const want = useMemo(() => {
    if (!first.data || (far && wide.isPending)) return [];
    const whole = wholeOf(first.data, far ? wide.data : undefined);
    const unknown = also.filter((key) => !known.cards.has(key)).map((key) => ({ key, limit: STEPS[1] }));
    return [...wanted(shown, whole), ...unknown].filter(({ key }) => {
      const endpoint = endpointOf(key);
      return endpoint !== null && !isJob(endpoint);
    });
  }, [shown, known, also, first.data, far, wide.isPending, wide.data]);
  // Each answer may show more to ask for. Nothing is taken back, so it ends.
  const next = withWanted(asked, want);
  if (next !== asked) setAsked(next);
  const whole = !more.awaited && next === asked && !(far && wide.isPending);
  const leftOut = shown.leftOut + asWell.length - also.length;
  const columnsComing =
    withColumns &&
    (first.isPending || first.isPlaceholderData || more.awaited || more.without || wide.isPlaceholderData);
  return { first, shown, known, columnsComing, path, difference, rootKey, whole, leftOut };
}

/** Of these every edge to each other is known: of the first answer, and of a wider one that holds it. */
function wholeOf(first: Schemas["Neighbourhood"], wide: Schemas["Neighbourhood"] | undefined): Set<string> {
  const near = new Set(first.nodes.map((card) => nodeKey(card.endpoint)));
  const all = new Set((wide?.nodes ?? []).map((card) => nodeKey(card.endpoint)));
  return [...near].every((key) => all.has(key)) ? all : near;
}

function usePath({ of: whose, column, at }: Where): Path | null {
  const lit = whose !== null && column !== null;
  const of = whose ?? { namespace: "", name: "" };
  const up = useQuery({ ...closure(of, column ?? "", "upstream", at), enabled: lit });
  const down = useQuery({ ...closure(of, column ?? "", "downstream", at), enabled: lit });
  return useMemo(
    () =>
      whose && column !== null && up.data && down.data ? litPath(whose, column, up.data.nodes, down.data.nodes) : null,
    [whose, column, up.data, down.data],
  );
}

function useDifference({ before, after }: Where): Difference | null {
  const both = before !== null && after !== null;
  const one = useQuery({ ...run(before ?? ""), enabled: both });
  const other = useQuery({ ...run(after ?? ""), enabled: both });
  return useMemo(
    () => (both && one.data && other.data ? differenceOf(one.data, other.data) : null),
    [both, one.data, other.data],
  );
}

export interface CardRows {
  rows: Map<string, Rows>;
  columns: ReturnType<typeof drawnColumns>;
}

/** The rows of the cards, and the column edges that run between them. */
export function useRows(
  shown: Shown,
  known: KnownColumns,
  coming: boolean,
  where: Where,
  path: Path | null,
  difference: Difference | null,
  leaves: ReadonlyMap<string, Leaf>,
): CardRows {
  const open = useMemo(() => {
    // A long path is drawn by what it was come along; types, and edges beside the shortest, are for those one can read.
    const onPath = path && path.nodes.length <= READABLE ? path.columns : null;
    return [...shown.nodes.keys()].filter((key) => isOpen(where.shape, key) || onPath?.has(key));
  }, [shown, where.shape, path]);
  const openSets = useMemo(() => {
    // As it was then, only a dataset's versions tell.
    const told = (key: string) => where.at === null && known.schemas.has(key);
    return coming ? [] : open.filter((key) => !told(key) && !isJob(endpointOf(key) as Endpoint));
  }, [open, known, coming, where.at]);
  const details = useQueries({
    queries: openSets.map((key) => schemaOf(endpointOf(key) as Endpoint, where.at)),
    // With its name: what is told lags behind what is asked.
    combine: (results) =>
      results.flatMap(({ data }, place): [string, Field[]][] => (data ? [[openSets[place] ?? "", data]] : [])),
  });
  const asked = useMemo(() => {
    const with_ = new Set(coming ? [] : open);
    const unknown = shown.edges.filter(
      ({ id, from, to }) => (with_.has(from) || with_.has(to)) && !known.whole.has(id),
    );
    return cover(unknown).filter((key) => !isJob(endpointOf(key) as Endpoint));
  }, [shown.edges, open, known, coming]);
  const links = useQueries({
    queries: asked.map((key) => columnLinks(endpointOf(key) as Endpoint, where.at)),
    combine: (results) => results.flatMap((result) => (result.data ? [result.data] : [])),
  });
  // Many answers come at once: cards and panning go before the edges of columns.
  const heard = useDeferredValue(links);
  const told = useDeferredValue(details);
  const edges = useMemo(
    () => withMore(mergeColumns([...known.links, ...heard]), path, difference),
    [known, heard, path, difference],
  );
  const fields = useMemo(() => {
    const named = namesIn(edges.values(), difference);
    const found = new Map<string, Field[]>();
    const add = (key: string, schema: readonly Field[]) => found.set(key, fieldsOf(schema, named.get(key) ?? []));
    if (where.at === null) for (const [key, schema] of known.schemas) add(key, schema);
    for (const [key, schema] of told) add(key, schema);
    return found;
  }, [edges, known, told, where.at, difference]);
  const rows = useMemo(() => {
    const found = new Map<string, Rows>();
    for (const [key, { card }] of shown.nodes) {
      const opened = isOpen(where.shape, key);
      found.set(
        key,
        rowsOf(fields.get(key) ?? null, card.columns, opened, path?.columns.get(key) ?? null, leaves.get(key)),
      );
    }
    return found;
  }, [shown, where.shape, fields, path, leaves]);
  const columns = useMemo(() => {
    const seen = new Map([...rows].map(([key, { fields: list }]) => [key, new Set(list.map((field) => field.name))]));
    return drawnColumns(edges.values(), seen, path && ((edge) => isLit(path, edge)));
  }, [edges, rows, path]);
  return { rows, columns };
}

/** With the edges that the path was come along, and those that another run had. */
function withMore(
  edges: Map<string, ColumnEdge>,
  path: Path | null,
  difference: Difference | null,
): Map<string, ColumnEdge> {
  if (path) withPath(edges, path);
  for (const [id, { from, to }] of difference?.columnEdges ?? []) {
    if (!edges.has(id)) edges.set(id, { from, to, ways: [] });
  }
  return edges;
}

function namesIn(edges: Iterable<ColumnEdge>, difference: Difference | null): Map<string, string[]> {
  const named = new Map<string, string[]>();
  const add = ({ node, column }: Ref) => {
    if (column === null) return;
    const names = named.get(node);
    if (names) names.push(column);
    else named.set(node, [column]);
  };
  for (const { from, to } of edges) {
    add(from);
    add(to);
  }
  for (const { node, column } of difference?.columns.values() ?? []) add({ node, column });
  return named;
}
