/** A value of a row, as text for people and as a literal of SQL. Pure. */

import { ExactNumber } from "./exact-json";

export type Row = Record<string, unknown>;

const LONGEST = 2000; // characters of a cell; the rest is in the data

export function isNumber(value: unknown): boolean {
  return typeof value === "number" || value instanceof ExactNumber;
}

export function displayValue(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (value instanceof ExactNumber) return value.text;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** null where a value cannot be written so: a list, a struct. */
export function literal(value: unknown): string | null {
  if (typeof value === "string") return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (value instanceof ExactNumber) return value.text;
  return typeof value === "number" && Number.isFinite(value) ? String(value) : null;
}

/** A column's name as SQL takes it. */
export function quoted(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !RESERVED.has(name.toUpperCase())
    ? name
    : `\`${name.replaceAll("`", "``")}\``;
}

// Those that a column may well be called by.
const RESERVED = new Set(
  (
    "ALL AND ANY AS BETWEEN BY CASE CAST CROSS CURRENT_DATE CURRENT_TIMESTAMP DATE DISTINCT ELSE END EXISTS FALSE " +
    "FOR FROM FULL GROUP HAVING IN INNER INTERVAL IS JOIN LEFT LIKE LIMIT NATURAL NOT NULL OFFSET ON OR " +
    "ORDER OUTER RIGHT SELECT SOME TABLE THEN TIME TIMESTAMP TRUE UNION UNIQUE USING VALUES WHEN WHERE WITH"
  ).split(" "),
);
