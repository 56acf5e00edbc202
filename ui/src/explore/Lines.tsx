import { useReactFlow, useStoreApi, ViewportPortal } from "@xyflow/react";
import { memo, useEffect, useMemo, useState } from "react";
import type { Line } from "../graph/picture";
import { lineAt, REACH } from "../graph/pointed";
import { lookOf, strokesOf } from "../graph/strokes";
import { Hint } from "./Hint";

interface Pointed {
  line: Line;
  x: number;
  y: number;
}

/**
 * All edges as one drawing beneath the cards, of as few elements as will do. Their ways are computed beforehand, so
 * nothing is measured, and nothing is drawn anew while the reader pans. What hovering tells, the panel tells of a chosen
 * column, to the keyboard too.
 */
export const Lines = memo(function Lines({ of: lines }: { of: readonly Line[] }) {
  const strokes = useMemo(() => strokesOf(lines), [lines]);
  const signed = useMemo(() => lines.filter((line) => line.sign !== null), [lines]);
  const pointed = usePointed(lines);
  return (
    <>
      <ViewportPortal>
        <svg className="lines" aria-hidden="true">
          {strokes.map(({ id, look, d }) => (
            <Stroke key={id} look={look} d={d} />
          ))}
          {signed.map(({ id, at, kind, lit, sign }) => (
            <text key={id} className={lookOf({ kind, lit, sign })} x={at[0]} y={at[1] + 5} textAnchor="middle">
              {sign}
            </text>
          ))}
          {pointed && <path className={`${lookOf(pointed.line)} pointed`} d={pointed.line.d} />}
        </svg>
      </ViewportPortal>
      {pointed && <Hint {...pointed} />}
    </>
  );
});

const Stroke = memo(function Stroke({ look, d }: { look: string; d: string }) {
  return <path className={look} d={d} />;
});

/** The line under the mouse, and where to tell of it. Found by looking, not by an element for each line to be hit. */
function usePointed(lines: readonly Line[]): Pointed | null {
  const { screenToFlowPosition } = useReactFlow();
  const store = useStoreApi();
  const [pointed, setPointed] = useState<Pointed | null>(null);
  useEffect(() => {
    const frame = store.getState().domNode;
    if (!frame) return;
    const touches = toucher();
    const leave = () => setPointed(null);
    const move = (event: MouseEvent) => {
      const on = event.target as Element;
      // While a button is down the picture is dragged.
      if (event.buttons !== 0 || !on.classList.contains("react-flow__pane")) return leave();
      const { x, y } = screenToFlowPosition({ x: event.clientX, y: event.clientY });
      const line = lineAt(lines, x, y, touches);
      const box = frame.getBoundingClientRect();
      setPointed(line && { line, x: event.clientX - box.left + 12, y: event.clientY - box.top + 12 });
    };
    frame.addEventListener("mousemove", move);
    frame.addEventListener("mouseleave", leave);
    return () => {
      frame.removeEventListener("mousemove", move);
      frame.removeEventListener("mouseleave", leave);
    };
  }, [lines, store, screenToFlowPosition]);
  return pointed;
}

/** The browser's own geometry. */
function toucher(): (line: Line, x: number, y: number) => boolean {
  const canvas = document.createElement("canvas").getContext("2d");
  if (!canvas) return () => false;
  canvas.lineWidth = 2 * REACH;
  return (line, x, y) => canvas.isPointInStroke(new Path2D(line.d), x, y);
}
