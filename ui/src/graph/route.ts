/** The way of an edge from card to card. Pure. */

import type { Box } from "./layout";

/** From the right of one card, so far below its top, to the left of another; forward, back, or to itself. */
export function route(from: Box, fromPort: number, to: Box, toPort: number): string {
  const [x1, y1] = [from.x + from.width, from.y + fromPort];
  const [x2, y2] = [to.x, to.y + toPort];
  if (x2 <= x1) return back(x1, y1, x2, y2, Math.min(from.y, to.y) - 24);
  const reach = Math.max(32, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + reach} ${y1} ${x2 - reach} ${y2} ${x2} ${y2}`;
}

/** Out at the right, over the top, in at the left: past the cards and not behind them. */
function back(x1: number, y1: number, x2: number, y2: number, over: number): string {
  return `M${x1} ${y1}C${x1 + 48} ${y1} ${x1 + 48} ${over} ${x1 - 16} ${over}L${x2 + 16} ${over}C${x2 - 48} ${over} ${x2 - 48} ${y2} ${x2} ${y2}`;
}

export function middle(from: Box, fromPort: number, to: Box, toPort: number): [x: number, y: number] {
  return [(from.x + from.width + to.x) / 2, (from.y + fromPort + to.y + toPort) / 2];
}
