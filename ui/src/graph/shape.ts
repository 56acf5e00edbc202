/** What the reader has opened, as a word of the address: `shown=1k2u1.9zcd2.77ao`. Pure. */

import type { Side } from "./names";
import { mark } from "./names";

/** So many neighbours at one press of "more" after another; the server gives no more than the last, nor would they fit. */
export const STEPS = [8, 40, 200, 400] as const;

const FEW_OPEN = 6;

export interface Shape {
  /** Of a card's side how many steps it is opened; 0: shut although it would be open by itself. */
  sides: ReadonlyMap<string, number>;
  /** Cards whose columns are open, by their marks. */
  open: ReadonlySet<string>;
  /** Every card's columns. */
  all: boolean;
}

export const PLAIN: Shape = { sides: new Map(), open: new Set(), all: false };

const WORD = /^([0-9a-z]{1,7})-(?:([ud])([0-4])|c)$/;

export function readShape(text: string | null): Shape {
  const sides = new Map<string, number>();
  const open = new Set<string>();
  let all = false;
  for (const word of (text ?? "").split(".")) {
    if (word === "all") all = true;
    const found = WORD.exec(word);
    if (!found) continue;
    const [, card = "", side, step] = found;
    if (side === undefined) open.add(card);
    else sides.set(`${card}-${side}`, Number(step));
  }
  return { sides, open, all };
}

export function writeShape(shape: Shape): string | null {
  const words = [
    ...(shape.all ? ["all"] : []),
    ...[...shape.sides].map(([side, step]) => `${side}${step}`),
    ...[...shape.open].map((card) => `${card}-c`),
  ];
  return words.length === 0 ? null : words.join(".");
}

const sideWord = (key: string, side: Side) => `${mark(key)}-${side === "up" ? "u" : "d"}`;

/** How many neighbours of a card are asked for on one side, unless it says so by itself. */
export function mostOf(shape: Shape, key: string, side: Side, byItself: number): number {
  const step = shape.sides.get(sideWord(key, side));
  if (step === undefined) return byItself;
  return step === 0 ? 0 : (STEPS[step - 1] ?? 0);
}

/** One step more on this side. */
export function grow(shape: Shape, key: string, side: Side, now: number): Shape {
  const step = STEPS.findIndex((most) => most > now);
  if (step < 0) return shape;
  return { ...shape, sides: new Map(shape.sides).set(sideWord(key, side), step + 1) };
}

/** Nothing on this side. */
export function shrink(shape: Shape, key: string, side: Side): Shape {
  return { ...shape, sides: new Map(shape.sides).set(sideWord(key, side), 0) };
}

export function isOpen(shape: Shape, key: string): boolean {
  // With all open, those named are the ones that were shut again.
  return shape.all !== shape.open.has(mark(key));
}

/** So many are opened that their columns are best asked for all at once. */
export function manyOpen(shape: Shape): boolean {
  return shape.all || shape.open.size > FEW_OPEN;
}

export function turnColumns(shape: Shape, key: string): Shape {
  const open = new Set(shape.open);
  if (!open.delete(mark(key))) open.add(mark(key));
  return { ...shape, open };
}

export function turnAll(shape: Shape): Shape {
  return { ...shape, all: !shape.all, open: new Set() };
}
