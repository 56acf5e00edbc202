/** What the reader has opened, as a word of the address: `shown=1k2u1.9zcd2.77ao`. Pure. */

import type { Side } from "./names";
import { shortHash } from "./names";

/** So many neighbours at one press of "more" after another; the server gives no more than the last, nor would they fit. */
export const STEPS = [8, 40, 200, 400] as const;

const FEW_OPEN = 6;

export interface Expansion {
  /** Steps by which a side of a card is expanded; 0: collapsed although it would be expanded by default. */
  sides: ReadonlyMap<string, number>;
  /** Cards whose columns are shown, by their short hashes. */
  open: ReadonlySet<string>;
  /** Every card's columns. */
  all: boolean;
}

export const DEFAULT_EXPANSION: Expansion = { sides: new Map(), open: new Set(), all: false };

const WORD = /^([0-9a-z]{1,7})-(?:([ud])([0-4])|c)$/;

export function readExpansion(text: string | null): Expansion {
  const sides = new Map<string, number>();
  const open = new Set<string>();
  let all = false;
  for (const word of (text ?? "").split(".")) {
    if (word === "all") all = true;
    const match = WORD.exec(word);
    if (!match) continue;
    const [, card = "", side, step] = match;
    if (side === undefined) open.add(card);
    else sides.set(`${card}-${side}`, Number(step));
  }
  return { sides, open, all };
}

export function writeExpansion(shape: Expansion): string | null {
  const words = [
    ...(shape.all ? ["all"] : []),
    ...[...shape.sides].map(([side, step]) => `${side}${step}`),
    ...[...shape.open].map((card) => `${card}-c`),
  ];
  return words.length === 0 ? null : words.join(".");
}

const sideWord = (key: string, side: Side) => `${shortHash(key)}-${side === "up" ? "u" : "d"}`;

/** Maximum number of neighbours on one side of a card. */
export function limitOf(shape: Expansion, key: string, side: Side, byItself: number): number {
  const step = shape.sides.get(sideWord(key, side));
  if (step === undefined) return byItself;
  return step === 0 ? 0 : (STEPS[step - 1] ?? 0);
}

/** One step more on this side. */
export function expand(shape: Expansion, key: string, side: Side, now: number): Expansion {
  const step = STEPS.findIndex((most) => most > now);
  if (step < 0) return shape;
  return { ...shape, sides: new Map(shape.sides).set(sideWord(key, side), step + 1) };
}

/** Nothing on this side. */
export function collapse(shape: Expansion, key: string, side: Side): Expansion {
  return { ...shape, sides: new Map(shape.sides).set(sideWord(key, side), 0) };
}

export function isOpen(shape: Expansion, key: string): boolean {
  // With all open, those named are the ones that were shut again.
  return shape.all !== shape.open.has(shortHash(key));
}

/** Whether enough cards are open to request the columns of all cards at once. */
export function manyOpen(shape: Expansion): boolean {
  return shape.all || shape.open.size > FEW_OPEN;
}

export function toggleColumns(shape: Expansion, key: string): Expansion {
  const open = new Set(shape.open);
  if (!open.delete(shortHash(key))) open.add(shortHash(key));
  return { ...shape, open };
}

export function toggleAllColumns(shape: Expansion): Expansion {
  return { ...shape, all: !shape.all, open: new Set() };
}
