/** The lines as few strokes: what joins the same two cards and looks alike is one element of the drawing. Pure. */

import type { Line } from "./lines";

export interface Stroke {
  id: string;
  className: string;
  d: string;
}

/** In the order of the lines, so that highlighted ones stay on top. */
export function strokesOf(lines: readonly Line[]): Stroke[] {
  const strokes = new Map<string, Stroke>();
  for (const line of lines) {
    const className = lineClasses(line);
    const id = `${line.from}\n${line.to}\n${className}`;
    const stroke = strokes.get(id);
    if (stroke) stroke.d += line.d;
    else strokes.set(id, { id, className, d: line.d });
  }
  return [...strokes.values()];
}

/** The classes that `explore.css` draws a line by. */
export function lineClasses({ kind, lit, sign }: Pick<Line, "kind" | "lit" | "sign">): string {
  const classes = [
    "line",
    kind,
    lit === true && "on-path",
    lit === false && "off-path",
    sign && (sign === "+" ? "added" : "removed"),
  ];
  return classes.filter(Boolean).join(" ");
}
