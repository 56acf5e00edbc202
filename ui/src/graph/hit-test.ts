/** Which line is under the pointer. Pure. */

import type { Line } from "./lines";

export const HIT_DISTANCE = 5; // to each side of a line

/**
 * The topmost line at a place. `touches` looks closely, and is asked only of lines whose bounds hold the place: there
 * may be a thousand, and the pointer moves often.
 */
export function lineAt(
  lines: readonly Line[],
  x: number,
  y: number,
  touches: (line: Line, x: number, y: number) => boolean,
): Line | null {
  for (let place = lines.length - 1; place >= 0; place -= 1) {
    const line = lines[place];
    if (line && within(line.d, x, y) && touches(line, x, y)) return line;
  }
  return null;
}

/** A curve stays within the box of the points that it is drawn by. */
function within(d: string, x: number, y: number): boolean {
  const [left, top, right, bottom] = boundsOf(d);
  return x >= left - HIT_DISTANCE && x <= right + HIT_DISTANCE && y >= top - HIT_DISTANCE && y <= bottom + HIT_DISTANCE;
}

type Bounds = [left: number, top: number, right: number, bottom: number];
let known = new Map<string, Bounds>();
const MOST_KNOWN = 20_000;

function boundsOf(d: string): Bounds {
  const before = known.get(d);
  if (before) return before;
  const numbers = (d.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  const xs = numbers.filter((_, place) => place % 2 === 0);
  const ys = numbers.filter((_, place) => place % 2 === 1);
  const bounds: Bounds = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  if (known.size >= MOST_KNOWN) known = new Map();
  known.set(d, bounds);
  return bounds;
}
