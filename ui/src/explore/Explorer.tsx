import { ReactFlowProvider } from "@xyflow/react";
import { useCallback, useMemo, useRef, useState } from "react";
import type { ColumnPage } from "../graph/card";
import { heightOf, WIDTH } from "../graph/card";
import { linesOf } from "../graph/lines";
import { type Endpoint, isJob, nodeKey } from "../graph/names";
import type { VisibleGraph } from "../graph/visible-graph";
import { countOf, formatNumber } from "../parts/format";
import { ErrorMessage, Skeleton } from "../parts/QueryResult";
import { type CardView, cardViews } from "./card-view";
import { DifferenceBar } from "./DifferenceBar";
import { Graph } from "./Graph";
import { Legend } from "./Legend";
import { Panel } from "./panel/Panel";
import { Toolbar } from "./Toolbar";
import { useCardActions } from "./useCardActions";
import { useRows, useVisibleGraph } from "./useGraph";
import { useLayout } from "./useLayout";
import type { ViewChange, ViewState } from "./view-state";

export interface ExplorerProps {
  root: Endpoint;
  where: ViewState;
  move: (move: ViewChange, replace?: boolean) => void;
}

/** The graph at the left, what is chosen in it at the right. */
export function Explorer({ root, where, move }: ExplorerProps) {
  const [columnPages, setLeaves] = useState<ReadonlyMap<string, ColumnPage>>(new Map());
  const [activeKey, setActive] = useState<string | null>(null);
  const { first, shown, known, columnsComing, path, difference, rootKey, whole, leftOut } = useVisibleGraph(
    where,
    root,
  );
  const { rows, columns } = useRows(shown, known.columns, columnsComing, where, path, difference, columnPages);
  const selectedKey = where.on && nodeKey(where.on) !== nodeKey(root) ? nodeKey(where.on) : rootKey;
  const anchorKey = useRef<string | null>(null);

  const sizes = useMemo(
    () => new Map([...rows].map(([key, list]) => [key, { width: WIDTH, height: heightOf(list) }])),
    [rows],
  );
  const layoutPairs = useMemo(
    () => layoutEdges(shown, path?.edges.values(), difference?.edges.values()),
    [shown, path, difference],
  );
  const anchors = [anchorKey.current, selectedKey, rootKey].filter((key) => key !== null);
  const { places, settled, error } = useLayout(sizes, layoutPairs, anchors);

  const formerViews = useRef<ReadonlyMap<string, CardView>>(new Map());
  const views = useMemo(() => {
    formerViews.current = cardViews(
      { shown, rows, columnPages, where, path, difference, rootKey, selectedKey, activeKey },
      formerViews.current,
    );
    return formerViews.current;
  }, [shown, rows, columnPages, where, path, difference, rootKey, selectedKey, activeKey]);
  const lines = useMemo(
    () => linesOf({ edges: shown.edges, columns, places, rows, path, difference }),
    [shown.edges, columns, places, rows, path, difference],
  );
  const actions = useCardActions({
    move,
    where,
    shown,
    places,
    neighbours: (key, side) => known.neighbours[side].get(key) ?? [],
    activeKey: activeKey ?? rootKey,
    setActive,
    setLeaves,
    anchorKey,
  });
  const show = useCallback((of: Endpoint) => move({ on: of, partition: null }), [move]);

  if (first.error && !first.data) {
    return (
      <div className="sheet">
        <h1>The graph could not be loaded</h1>
        <ErrorMessage error={first.error} again={() => first.refetch()} />
      </div>
    );
  }
  return (
    <ReactFlowProvider>
      <div className="explore">
        <div className="stage">
          <Toolbar where={where} move={move} root={root} views={views} places={places} lines={lines} />
          {where.before !== null && where.after !== null && (
            <DifferenceBar where={where} move={move} difference={difference} />
          )}
          {places.size === 0 ? (
            <div className="notice">{error ? <ErrorMessage error={error} /> : <Skeleton lines={6} />}</div>
          ) : (
            <Graph
              actions={actions}
              views={views}
              places={places}
              lines={lines}
              settled={settled && (whole || path === null)}
              focusOn={path ? path.nodes : null}
              about={`${rootKey}${where.hops}${where.at ?? ""}`}
              lit={path ? `${path.start.node} ${path.start.column}` : null}
              rootKey={rootKey}
            />
          )}
          <Legend lines={lines} />
          <div className="status-line dim" role="status">
            {places.size > 0 && settled && statusText(shown, columns.length, leftOut)}
          </div>
        </div>
        <Panel where={where} move={move} root={root} show={show} shown={shown.nodes} edges={shown.edges} />
      </div>
    </ReactFlowProvider>
  );
}

function statusText(shown: VisibleGraph, columnEdges: number, leftOut: number): string {
  const jobs = [...shown.nodes.values()].filter((node) => isJob(node.card.endpoint)).length;
  const parts = [countOf(shown.nodes.size - jobs, "dataset")];
  if (jobs > 0) parts.push(countOf(jobs, "job"));
  parts.push(countOf(shown.edges.length, "edge"));
  if (columnEdges > 0) parts.push(countOf(columnEdges, "column edge"));
  if (leftOut > 0) parts.push(`${formatNumber(leftOut)} more datasets not shown: the graph is full`);
  return parts.join(" · ");
}

/** All pairs that something is drawn between: the layout puts them side by side. */
function layoutEdges(
  shown: VisibleGraph,
  onPath: Iterable<{ from: { node: string }; to: { node: string } }> = [],
  changed: Iterable<{ from: string; to: string }> = [],
): { id: string; from: string; to: string }[] {
  const pairs = new Map<string, { id: string; from: string; to: string }>();
  const add = (from: string, to: string) => {
    const id = JSON.stringify([from, to]);
    if (shown.nodes.has(from) && shown.nodes.has(to)) pairs.set(id, { id, from, to });
  };
  for (const { from, to } of shown.edges) add(from, to);
  for (const { from, to } of onPath) add(from.node, to.node);
  for (const { from, to } of changed) add(from, to);
  return [...pairs.values()];
}
