import {
  Controls,
  type Edge,
  getViewportForBounds,
  MiniMap,
  ReactFlow,
  useReactFlow,
  useStoreApi,
  type Viewport,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type Box, bounds, type Places } from "../graph/layout";
import type { Line } from "../graph/picture";
import { type Actions, ActionsOf } from "./actions";
import { CardNode, type CardNodeType } from "./CardNode";
import type { CardView } from "./cardView";
import { Lines } from "./Lines";

const NODES = { card: CardNode };
const NO_EDGES: Edge[] = [];
const LEAST_ZOOM = 0.05;
const FAR = 0.45; // from here on what is small cannot be read, and is not drawn
const SIDE = 80;
const MANY = 80; // of so many cards only those in sight are drawn
const WORDS = {
  "controls.ariaLabel": "Zoom",
  "controls.zoomIn.ariaLabel": "Zoom in",
  "controls.zoomOut.ariaLabel": "Zoom out",
  "controls.fitView.ariaLabel": "Show the whole graph",
  "minimap.ariaLabel": "Map of the graph",
};

export interface GraphProps {
  actions: Actions;
  views: ReadonlyMap<string, CardView>;
  places: Places;
  lines: readonly Line[];
  settled: boolean;
  /** On the lit path: brought into sight when it is lit. */
  focusOn: readonly string[] | null;
  /** What the picture is about: another one is brought into sight as a whole. */
  about: string;
  lit: string | null;
  rootKey: string | null;
}

export function Graph({ actions, views, places, lines, settled, focusOn, about, lit, rootKey }: GraphProps) {
  const frame = useRef<HTMLDivElement>(null);
  const nodes = useNodes(views, places);
  const [ready, setReady] = useState(false);
  useSight(frame, ready && settled, { places, focusOn, about, lit, rootKey });
  useFollow(views, places);
  const moved = useCallback((_: unknown, { zoom }: Viewport) => frame.current?.classList.toggle("far", zoom < FAR), []);
  return (
    <ActionsOf value={actions}>
      <div className="graph" ref={frame}>
        <ReactFlow<CardNodeType>
          nodes={nodes}
          edges={NO_EDGES}
          nodeTypes={NODES}
          minZoom={LEAST_ZOOM}
          maxZoom={2}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          selectionKeyCode={null}
          multiSelectionKeyCode={null}
          panActivationKeyCode={null}
          zoomOnDoubleClick={false}
          onlyRenderVisibleElements={nodes.length > MANY}
          onMove={moved}
          onInit={() => setReady(true)}
          ariaLabelConfig={WORDS}
          aria-label="Lineage graph"
        >
          <Lines of={lines} />
          <MiniMap<CardNodeType> nodeClassName={minimapClass} pannable zoomable nodeBorderRadius={8} />
          <Controls showInteractive={false} position="bottom-left" />
        </ReactFlow>
      </div>
    </ActionsOf>
  );
}

function minimapClass({ data }: CardNodeType): string {
  return data.selected ? "selected" : data.lit ? "lit" : "";
}

/** A card's node is made anew only when the card or its place changed: React then leaves the others alone. */
function useNodes(views: ReadonlyMap<string, CardView>, places: Places): CardNodeType[] {
  const kept = useRef(new Map<string, CardNodeType>());
  return useMemo(() => {
    const next = new Map<string, CardNodeType>();
    for (const [key, view] of views) {
      const box = places.get(key);
      if (!box) continue;
      const before = kept.current.get(key);
      const stays =
        before &&
        before.data === view &&
        before.position.x === box.x &&
        before.position.y === box.y &&
        before.height === box.height;
      next.set(key, stays ? before : nodeOf(key, view, box));
    }
    kept.current = next;
    return [...next.values()];
  }, [views, places]);
}

/** Its size is told, so that nothing has to be measured. */
function nodeOf(key: string, data: CardView, { x, y, width, height }: Box): CardNodeType {
  return {
    id: key,
    type: "card",
    position: { x, y },
    width,
    height,
    measured: { width, height },
    handles: [], // that there are none is told too, or each would be drawn once to look for them
    style: { pointerEvents: "all" },
    data,
  };
}

/** Another picture is shown whole; a path that is lit is brought into sight; all else leaves the reader's sight alone. */
function useSight(
  frame: RefObject<HTMLDivElement | null>,
  ready: boolean,
  { places, focusOn, about, lit, rootKey }: Pick<GraphProps, "places" | "focusOn" | "about" | "lit" | "rootKey">,
) {
  const { setViewport } = useReactFlow();
  const seen = useRef({ about: "", lit: null as string | null });
  useEffect(() => {
    if (!ready || places.size === 0 || !frame.current) return;
    const { clientWidth: width, clientHeight: height } = frame.current;
    const fresh = seen.current.about !== about;
    const litNow = lit !== null && lit !== seen.current.lit;
    if (!fresh && !litNow) {
      seen.current.lit = lit;
      return;
    }
    const on = litNow && focusOn ? focusOn.flatMap((key) => places.get(key) ?? []) : [...places.values()];
    const whole = getViewportForBounds(withSides(bounds(on)), width, height, LEAST_ZOOM, 1, 0.06);
    const middle = rootKey ? places.get(rootKey) : undefined;
    // Too many to read any: better the one asked for, in the midst of the others.
    const view =
      whole.zoom < 0.2 && middle ? getViewportForBounds(bounds([middle]), width, height, 0.4, 0.4, 0) : whole;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    setViewport(view, { duration: fresh || calm ? 0 : 150 });
    seen.current = { about, lit };
  }, [ready, frame, places, focusOn, about, lit, rootKey, setViewport]);
}

/** With room for what stands beside the outermost cards: how many more there are. */
function withSides(box: Box): Box {
  return { ...box, x: box.x - SIDE, width: box.width + 2 * SIDE };
}

/** The card that the keyboard is at stays in sight. */
function useFollow(views: ReadonlyMap<string, CardView>, places: Places) {
  const { getViewport, setViewport } = useReactFlow();
  const store = useStoreApi();
  const active = [...views.values()].find((view) => view.active)?.id;
  const last = useRef(active);
  useEffect(() => {
    const box = active === undefined ? undefined : places.get(active);
    if (!box || last.current === active) return;
    last.current = active;
    const { width, height } = store.getState();
    const { x, y, zoom } = getViewport();
    const [left, top] = [box.x * zoom + x, box.y * zoom + y];
    const [right, bottom] = [left + box.width * zoom, top + box.height * zoom];
    const dx = left < 0 ? 24 - left : right > width ? width - right - 24 : 0;
    const dy = top < 0 ? 24 - top : bottom > height ? height - bottom - 24 : 0;
    if (dx !== 0 || dy !== 0) setViewport({ x: x + dx, y: y + dy, zoom });
  }, [active, places, getViewport, setViewport, store]);
}
