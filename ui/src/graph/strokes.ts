/** The lines as few strokes: what joins the same two cards and looks alike is one element of the drawing. Pure. */

import type { Line } from "./picture";

export interface Stroke {
  id: string;
  look: string;
  d: string;
}

/** In the order of the lines, so that lit ones stay on top. */
export function strokesOf(lines: readonly Line[]): Stroke[] {
  const strokes = new Map<string, Stroke>();
  for (const line of lines) {
    const look = lookOf(line);
    const id = `${line.from}\n${line.to}\n${look}`;
    const stroke = strokes.get(id);
    if (stroke) stroke.d += line.d;
    else strokes.set(id, { id, look, d: line.d });
  }
  return [...strokes.values()];
}

/** The classes that `explore.css` draws a line by. */
export function lookOf({ kind, lit, sign }: Pick<Line, "kind" | "lit" | "sign">): string {
  const classes = [
    "line",
    kind,
    lit === true && "lit",
    lit === false && "unlit",
    sign && (sign === "+" ? "added" : "removed"),
  ];
  return classes.filter(Boolean).join(" ");
}
