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
import type { Line } from "../graph/lines";
import { CardNode, type CardNodeType } from "./CardNode";
import { type CardActions, CardActionsProvider } from "./card-actions";
import type { CardView } from "./card-view";
import { EdgeLines } from "./EdgeLines";

const NODES = { card: CardNode };
const NO_EDGES: Edge[] = [];
const LEAST_ZOOM = 0.05;
const FAR = 0.45; // from here on what is small cannot be read, and is not drawn
const SIDE = 80;
const MANY = 80; // above this number of cards, only visible ones are drawn
const WORDS = {
  "controls.ariaLabel": "Zoom",
  "controls.zoomIn.ariaLabel": "Zoom in",
  "controls.zoomOut.ariaLabel": "Zoom out",
  "controls.fitView.ariaLabel": "Show the whole graph",
  "minimap.ariaLabel": "Minimap",
};

export interface GraphProps {
  actions: CardActions;
  views: ReadonlyMap<string, CardView>;
  places: Places;
  lines: readonly Line[];
  settled: boolean;
  /** Cards on the highlighted path: the viewport moves to them when a column is selected. */
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
  useViewportFit(frame, ready && settled, { places, focusOn, about, lit, rootKey });
  useKeepInView(views, places);
  const onMove = useCallback(
    (_: unknown, { zoom }: Viewport) => frame.current?.classList.toggle("far", zoom < FAR),
    [],
  );
  return (
    <CardActionsProvider value={actions}>
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
          onMove={onMove}
          onInit={() => setReady(true)}
          ariaLabelConfig={WORDS}
          aria-label="Lineage graph"
        >
          <EdgeLines of={lines} />
          <MiniMap<CardNodeType> nodeClassName={minimapClass} pannable zoomable nodeBorderRadius={8} />
          <Controls showInteractive={false} position="bottom-left" />
        </ReactFlow>
      </div>
    </CardActionsProvider>
  );
}

function minimapClass({ data }: CardNodeType): string {
  return data.selected ? "selected" : data.lit ? "on-path" : "";
}

/** Reuses the node of a card that did not change, so that React skips it. */
function useNodes(views: ReadonlyMap<string, CardView>, places: Places): CardNodeType[] {
  const formerNodes = useRef(new Map<string, CardNodeType>());
  return useMemo(() => {
    const next = new Map<string, CardNodeType>();
    for (const [key, view] of views) {
      const box = places.get(key);
      if (!box) continue;
      const before = formerNodes.current.get(key);
      const stays =
        before &&
        before.data === view &&
        before.position.x === box.x &&
        before.position.y === box.y &&
        before.height === box.height;
      next.set(key, stays ? before : nodeOf(key, view, box));
    }
    formerNodes.current = next;
    return [...next.values()];
  }, [views, places]);
}

/** States the size, so that React Flow measures nothing. */
function nodeOf(key: string, data: CardView, { x, y, width, height }: Box): CardNodeType {
  return {
    id: key,
    type: "card",
    position: { x, y },
    width,
    height,
    measured: { width, height },
    handles: [], // stated as empty, or React Flow would render each node once to look for handles
    style: { pointerEvents: "all" },
    data,
  };
}

/** Fits a new graph into the viewport and moves to a newly highlighted path; no other change moves the viewport. */
function useViewportFit(
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
    const whole = getViewportForBounds(withMargins(bounds(on)), width, height, LEAST_ZOOM, 1, 0.06);
    const middle = rootKey ? places.get(rootKey) : undefined;
    // Too many cards to read: show the root card at a readable size instead.
    const view =
      whole.zoom < 0.2 && middle ? getViewportForBounds(bounds([middle]), width, height, 0.4, 0.4, 0) : whole;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    setViewport(view, { duration: fresh || calm ? 0 : 150 });
    seen.current = { about, lit };
  }, [ready, frame, places, focusOn, about, lit, rootKey, setViewport]);
}

/** With room for the buttons beside the outermost cards. */
function withMargins(box: Box): Box {
  return { ...box, x: box.x - SIDE, width: box.width + 2 * SIDE };
}

/** Keeps the focused card in view. */
function useKeepInView(views: ReadonlyMap<string, CardView>, places: Places) {
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
