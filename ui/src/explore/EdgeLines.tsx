import { useReactFlow, useStoreApi, ViewportPortal } from "@xyflow/react";
import { memo, useEffect, useMemo, useState } from "react";
import { HIT_DISTANCE, lineAt } from "../graph/hit-test";
import type { Line } from "../graph/lines";
import { lineClasses, strokesOf } from "../graph/strokes";
import { EdgeTooltip } from "./EdgeTooltip";

interface HoveredLine {
  line: Line;
  x: number;
  y: number;
}

/**
 * All edges as one drawing beneath the cards, of as few elements as will do. Their ways are computed beforehand, so
 * nothing is measured, and nothing is drawn anew while the reader pans. What hovering tells, the panel tells of a chosen
 * column, to the keyboard too.
 */
export const EdgeLines = memo(function EdgeLines({ of: lines }: { of: readonly Line[] }) {
  const strokes = useMemo(() => strokesOf(lines), [lines]);
  const signed = useMemo(() => lines.filter((line) => line.sign !== null), [lines]);
  const hovered = useHoveredLine(lines);
  return (
    <>
      <ViewportPortal>
        <svg className="lines" aria-hidden="true">
          {strokes.map(({ id, className, d }) => (
            <Stroke key={id} look={className} d={d} />
          ))}
          {signed.map(({ id, at, kind, lit, sign }) => (
            <text key={id} className={lineClasses({ kind, lit, sign })} x={at[0]} y={at[1] + 5} textAnchor="middle">
              {sign}
            </text>
          ))}
          {hovered && <path className={`${lineClasses(hovered.line)} hovered`} d={hovered.line.d} />}
        </svg>
      </ViewportPortal>
      {hovered && <EdgeTooltip {...hovered} />}
    </>
  );
});

const Stroke = memo(function Stroke({ look, d }: { look: string; d: string }) {
  return <path className={look} d={d} />;
});

/** The line under the mouse and the place of its tooltip. Hit-tested by geometry, not by one DOM element per line. */
function useHoveredLine(lines: readonly Line[]): HoveredLine | null {
  const { screenToFlowPosition } = useReactFlow();
  const store = useStoreApi();
  const [hovered, setHovered] = useState<HoveredLine | null>(null);
  useEffect(() => {
    const frame = store.getState().domNode;
    if (!frame) return;
    const touches = hitTester();
    const leave = () => setHovered(null);
    const move = (event: MouseEvent) => {
      const on = event.target as Element;
      // While a button is down the picture is dragged.
      if (event.buttons !== 0 || !on.classList.contains("react-flow__pane")) return leave();
      const { x, y } = screenToFlowPosition({ x: event.clientX, y: event.clientY });
      const line = lineAt(lines, x, y, touches);
      const box = frame.getBoundingClientRect();
      setHovered(line && { line, x: event.clientX - box.left + 12, y: event.clientY - box.top + 12 });
    };
    frame.addEventListener("mousemove", move);
    frame.addEventListener("mouseleave", leave);
    return () => {
      frame.removeEventListener("mousemove", move);
      frame.removeEventListener("mouseleave", leave);
    };
  }, [lines, store, screenToFlowPosition]);
  return hovered;
}

/** The browser's own geometry. */
function hitTester(): (line: Line, x: number, y: number) => boolean {
  const canvas = document.createElement("canvas").getContext("2d");
  if (!canvas) return () => false;
  canvas.lineWidth = 2 * HIT_DISTANCE;
  return (line, x, y) => canvas.isPointInStroke(new Path2D(line.d), x, y);
}
