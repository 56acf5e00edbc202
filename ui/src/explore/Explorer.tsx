import { ReactFlowProvider } from "@xyflow/react";
import { useCallback, useMemo, useRef, useState } from "react";
import type { Leaf } from "../graph/card";
import { heightOf, WIDTH } from "../graph/card";
import { type Endpoint, isJob, nodeKey } from "../graph/names";
import { linesOf } from "../graph/picture";
import type { Shown } from "../graph/shown";
import { Skeleton, Wrong } from "../parts/Answer";
import { amount, counted } from "../parts/words";
import { Bar } from "./Bar";
import { type CardView, cardViews } from "./cardView";
import { DifferenceBar } from "./DifferenceBar";
import { Graph } from "./Graph";
import { Legend } from "./Legend";
import { Panel } from "./panel/Panel";
import { useCardActions } from "./useCardActions";
import { useLayout } from "./useLayout";
import { useRows, useShown } from "./usePicture";
import type { Move, Where } from "./where";

export interface Room {
  root: Endpoint;
  where: Where;
  move: (move: Move, replace?: boolean) => void;
}

/** The graph at the left, what is chosen in it at the right. */
export function Explorer({ root, where, move }: Room) {
  const [leaves, setLeaves] = useState<ReadonlyMap<string, Leaf>>(new Map());
  const [activeKey, setActive] = useState<string | null>(null);
  const { first, shown, known, columnsComing, path, difference, rootKey, whole, leftOut } = useShown(where, root);
  const { rows, columns } = useRows(shown, known.columns, columnsComing, where, path, difference, leaves);
  const selectedKey = where.on && nodeKey(where.on) !== nodeKey(root) ? nodeKey(where.on) : rootKey;
  const acted = useRef<string | null>(null);

  const sizes = useMemo(
    () => new Map([...rows].map(([key, list]) => [key, { width: WIDTH, height: heightOf(list) }])),
    [rows],
  );
  const joined = useMemo(
    () => joinedBy(shown, path?.edges.values(), difference?.edges.values()),
    [shown, path, difference],
  );
  const anchors = [acted.current, selectedKey, rootKey].filter((key) => key !== null);
  const { places, settled, error } = useLayout(sizes, joined, anchors);

  const kept = useRef<ReadonlyMap<string, CardView>>(new Map());
  const views = useMemo(() => {
    kept.current = cardViews(
      { shown, rows, leaves, where, path, difference, rootKey, selectedKey, activeKey },
      kept.current,
    );
    return kept.current;
  }, [shown, rows, leaves, where, path, difference, rootKey, selectedKey, activeKey]);
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
    acted,
  });
  const show = useCallback((of: Endpoint) => move({ on: of, partition: null }), [move]);

  if (first.error && !first.data) {
    return (
      <div className="sheet">
        <h1>It cannot be shown</h1>
        <Wrong error={first.error} again={() => first.refetch()} />
      </div>
    );
  }
  return (
    <ReactFlowProvider>
      <div className="explore">
        <div className="stage">
          <Bar where={where} move={move} root={root} views={views} places={places} lines={lines} />
          {where.before !== null && where.after !== null && (
            <DifferenceBar where={where} move={move} difference={difference} />
          )}
          {places.size === 0 ? (
            <div className="notice">{error ? <Wrong error={error} /> : <Skeleton lines={6} />}</div>
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
          <div className="said dim" role="status">
            {places.size > 0 && settled && told(shown, columns.length, leftOut)}
          </div>
        </div>
        <Panel where={where} move={move} root={root} show={show} shown={shown.nodes} edges={shown.edges} />
      </div>
    </ReactFlowProvider>
  );
}

function told(shown: Shown, columnEdges: number, leftOut: number): string {
  const jobs = [...shown.nodes.values()].filter((node) => isJob(node.card.endpoint)).length;
  const parts = [counted(shown.nodes.size - jobs, "dataset")];
  if (jobs > 0) parts.push(counted(jobs, "job"));
  parts.push(counted(shown.edges.length, "edge"));
  if (columnEdges > 0) parts.push(counted(columnEdges, "column edge"));
  if (leftOut > 0) parts.push(`${amount(leftOut)} more left out: the picture is full`);
  return parts.join(" · ");
}

/** All pairs that something is drawn between: the layout puts them side by side. */
function joinedBy(
  shown: Shown,
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
