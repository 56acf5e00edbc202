/** Conditions that name rows by the values they have, and what a written condition asks for. Pure. */

import { ExactNumber } from "./exact-json";
import { literal, quoted, type Row } from "./values";

/** What the server takes: so many characters, and so many parts of an expression, with room to spare. */
const MOST_CHARACTERS = 9000;
const MOST_PARTS = 1500;
const PARTS_OF_ONE = 5; // a column, its name, a literal, the comparison, and what joins it to the next

export interface RowCondition {
  condition: string;
  /** How many of the rows it names: the first ones. */
  taken: number;
}

/** Rows by their values in some columns; null where they cannot be written. */
export function conditionFor(rows: readonly Row[], columns: readonly string[]): RowCondition | null {
  if (rows.length === 0 || columns.length === 0) return null;
  const same = columns.filter((column) => rows.every((row) => isSameValue(row[column], rows[0]?.[column])));
  const differing = columns.filter((column) => !same.includes(column));
  const fixed = same.map((column) => equals(column, rows[0]?.[column]));
  if (fixed.includes(null)) return null;
  const head = fixed.join(" AND ");
  if (differing.length === 0) return { condition: head, taken: rows.length };
  const comparisons = rows.map((row) => differing.map((column) => equals(column, row[column])));
  if (comparisons.some((one) => one.includes(null))) return null;
  const one = differing.length === 1 ? differing[0] : undefined;
  const cost = one === undefined ? (differing.length + 1) * PARTS_OF_ONE : 1; // of a list, each value is one part
  const texts = comparisons.map((parts) => parts.join(" AND "));
  let taken = 0;
  let left = MOST_CHARACTERS - head.length;
  while (taken < texts.length && left > 0 && (taken + 1) * cost < MOST_PARTS) {
    left -= (texts[taken]?.length ?? 0) + 8;
    taken += 1;
  }
  const first = rows.slice(0, taken);
  const listed =
    one !== undefined && first.every((row) => row[one] !== null)
      ? listOf(one, first)
      : texts
          .slice(0, taken)
          .map((text) => (differing.length > 1 ? `(${text})` : text))
          .join(" OR ");
  if (head === "") return { condition: listed, taken };
  return { condition: `${head} AND ${listed.includes(" OR ") ? `(${listed})` : listed}`, taken };
}

/** As few of the columns as tell these rows apart: those with the most values first. Rows that are not among these may
 * share them, so what is asked by them has to be counted. */
export function identifyingColumns(rows: readonly Row[], columns: readonly string[]): string[] {
  const apart = (by: readonly string[]) => countDistinct(rows, by);
  const wanted = apart(columns);
  const richest = [...columns].sort((one, other) => apart([other]) - apart([one]));
  const taken: string[] = [];
  for (const column of richest) {
    if (taken.length > 0 && apart(taken) === wanted) break;
    taken.push(column);
  }
  return columns.filter((column) => taken.includes(column));
}

/** How many different rows these are, by some of their columns. */
export function countDistinct(rows: readonly Row[], columns: readonly string[]): number {
  return new Set(rows.map((row) => keyOf(row, columns))).size;
}

function listOf(column: string, rows: readonly Row[]): string {
  return `${quoted(column)} IN (${[...new Set(rows.map((row) => literal(row[column])))].join(", ")})`;
}

function keyOf(row: Row, columns: readonly string[]): string {
  return JSON.stringify(columns.map((column) => row[column] ?? null));
}

function equals(column: string, value: unknown): string | null {
  if (value === null) return `${quoted(column)} IS NULL`;
  const text = literal(value);
  return text === null ? null : `${quoted(column)} = ${text}`;
}

function isSameValue(one: unknown, other: unknown): boolean {
  return one instanceof ExactNumber && other instanceof ExactNumber ? one.text === other.text : one === other;
}

/** Which of the columns a condition speaks of, near enough: its texts are passed over, the rest is words. */
export function mentionedColumns(condition: string, columns: readonly string[]): string[] {
  const bare = condition.replaceAll(/'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"/g, " ");
  const ticked = [...bare.matchAll(/`((?:[^`]|``)*)`/g)].map(([, name = ""]) => name.replaceAll("``", "`"));
  const words = bare.replaceAll(/`(?:[^`]|``)*`/g, " ").match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? [];
  const mentioned = new Set([...ticked, ...words].map((word) => word.toLowerCase()));
  return columns.filter((column) => mentioned.has(column.toLowerCase()));
}
