/** The tree of RFC 6962: whether an entry is in it, and whether one tree goes on from another. */

import { type Bytes, concat, isEqual, sha256 } from "./bytes";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

export function leafHash(entry: Bytes): Promise<Bytes> {
  return sha256(concat(LEAF, entry));
}

export function nodeHash(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(concat(NODE, left, right));
}

/** A tree of so many leaves, more than one, divides after the largest power of two below that. */
export function split(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/** The root that the path leads to from a leaf, or null where no path of that length can. */
export async function rootByInclusion(
  leaf: Bytes,
  index: number,
  size: number,
  path: readonly Bytes[],
): Promise<Bytes | null> {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return null;
  const leftSiblings: boolean[] = []; // from the root down: whether the sibling is the left one
  let place = index;
  let width = size;
  while (width > 1) {
    const middle = split(width);
    const right = place >= middle;
    leftSiblings.push(right);
    place = right ? place - middle : place;
    width = right ? width - middle : middle;
  }
  if (path.length !== leftSiblings.length) return null;
  let current = leaf;
  for (const sibling of path) {
    current = leftSiblings.pop() ? await nodeHash(sibling, current) : await nodeHash(current, sibling);
  }
  return current;
}

/** Whether the path shows that the tree of `after` leaves begins with the one of `before`. */
export async function isConsistent(
  before: number,
  after: number,
  rootBefore: Bytes,
  rootAfter: Bytes,
  path: readonly Bytes[],
): Promise<boolean> {
  if (!Number.isSafeInteger(before) || !Number.isSafeInteger(after) || before < 0 || before > after) return false;
  if (before === 0) return path.length === 0 && isEqual(rootBefore, await sha256(new Uint8Array()));
  if (before === after) return path.length === 0 && isEqual(rootBefore, rootAfter);
  const inBoth: boolean[] = []; // from the root down: whether the sibling is a left one, and so in both trees
  let first = before;
  let last = after;
  while (first < last) {
    const middle = split(last);
    const right = first > middle;
    inBoth.push(right);
    first = right ? first - middle : first;
    last = right ? last - middle : middle;
  }
  // A perfect tree on the left edge is not in the path: its root is the old one.
  const [start, ...rest] = isPowerOfTwo(before) ? [rootBefore, ...path] : path;
  if (start === undefined || rest.length !== inBoth.length) return false;
  let [old, now] = [start, start];
  for (const sibling of rest) {
    const both = inBoth.pop();
    if (both) old = await nodeHash(sibling, old);
    now = both ? await nodeHash(sibling, now) : await nodeHash(now, sibling);
  }
  return isEqual(old, rootBefore) && isEqual(now, rootAfter);
}

/** By division: the bits of a number end at 32 here, a log does not. */
function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(value)) && 2 ** Math.log2(value) === value;
}
