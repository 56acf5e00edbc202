/** Which card an arrow key leads to. Pure. */

import type { Box, Places } from "./layout";
import type { Side } from "./names";

export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

export function isArrow(key: string): key is Arrow {
  return key === "ArrowLeft" || key === "ArrowRight" || key === "ArrowUp" || key === "ArrowDown";
}

/**
 * Left and right follow edges, to the neighbour that stands nearest in height; without one, to the nearest card on
 * that side. Up and down stay in the layer.
 */
export function nextCard(
  key: string,
  arrow: Arrow,
  places: Places,
  neighbours: (key: string, side: Side) => readonly string[],
): string | null {
  const from = places.get(key);
  if (!from) return places.keys().next().value ?? null;
  if (arrow === "ArrowLeft" || arrow === "ArrowRight") {
    const side = arrow === "ArrowLeft" ? "up" : "down";
    const linked = neighbours(key, side).filter((other) => other !== key && places.has(other));
    return nearest(from, linked, places) ?? nearest(from, cardsOnSide(from, key, arrow, places), places);
  }
  const way = arrow === "ArrowUp" ? -1 : 1;
  const inLayer = [...places].filter(([, box]) => box.x === from.x && (box.y - from.y) * way > 0);
  return nearest(
    from,
    inLayer.map(([other]) => other),
    places,
  );
}

function cardsOnSide(from: Box, key: string, arrow: Arrow, places: Places): string[] {
  const way = arrow === "ArrowLeft" ? -1 : 1;
  return [...places].filter(([other, box]) => other !== key && (box.x - from.x) * way > 0).map(([other]) => other);
}

function nearest(from: Box, keys: readonly string[], places: Places): string | null {
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const key of keys) {
    const box = places.get(key);
    if (!box) continue;
    // A card far to the side is farther than one far above: layers are wide.
    const distance = Math.abs(box.y - from.y) + 2 * Math.abs(box.x - from.x);
    if (distance < least) [best, least] = [key, distance];
  }
  return best;
}
