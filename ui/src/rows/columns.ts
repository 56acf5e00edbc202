/** Which columns of a table of rows are shown first: those that made the values of the row asked about. Pure. */

import type { Schemas } from "../api/client";
import type { QualifiedName } from "../app/addresses";
import { sameName } from "../app/addresses";
import { isNumber, type Row } from "./values";

export type ColumnLink = Schemas["ColumnLink"];

export interface Column {
  name: string;
  /** `made`: a value was computed of it; `carried`: it was handed on as it was; `decided`: by it rows were joined,
   * kept or grouped. */
  part: "made" | "carried" | "decided" | null;
  /** What was computed of it: "kg = sum(amount)"; or, on the other side, how it was computed: "sum(amount)". */
  how: string[];
  numeric: boolean;
}

/** Beside the data's own: where a row stands, and by what it is known. */
const ADDED = new Set(["out_id", "_file", "_row"]);
const OURS = "__hw_"; // columns of a pipeline's own bookkeeping
const MOST_FIRST = 12;

export function namesOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

export function isOwn(name: string): boolean {
  return !ADDED.has(name) && !name.startsWith(OURS);
}

export function ownNames(rows: readonly Row[]): string[] {
  return namesOf(rows).filter(isOwn);
}

/** Which end of the links the rows are at: those they made something of, or those they were made by. */
export type LinkEnd = "upstream" | "downstream";

/** All columns of the rows, in their order, each with its part in what was made of it. */
export function columnsOf(rows: readonly Row[], links: readonly ColumnLink[], side: LinkEnd = "upstream"): Column[] {
  return namesOf(rows).map((name) => {
    const mine = links.filter((link) => link[`${side}_column`] === name);
    return {
      name,
      part: partOf(mine),
      how: [...new Set(mine.filter(isMaking).map((link) => derivationText(link, side)))],
      numeric: rows.every((row) => row[name] == null || isNumber(row[name])),
    };
  });
}

/** Those that mattered first, in the table's order; where nothing is known of them, all that are the data's own. What
 * rows are known by is among the first, unless that is all they have. */
export function firstOf(columns: readonly Column[], known: readonly string[] = []): Column[] {
  const own = columns.filter((column) => isOwn(column.name));
  const identity = known.length < own.length ? known : [];
  const mattered = own.filter((column) => column.part !== null || identity.includes(column.name));
  return (mattered.length > 0 ? mattered : own).slice(0, MOST_FIRST);
}

/** The links of a step: from one dataset into the next. */
export function between(
  links: readonly ColumnLink[],
  upstream: QualifiedName,
  downstream: QualifiedName,
): ColumnLink[] {
  return links.filter((link) => sameName(link.upstream, upstream) && sameName(link.downstream, downstream));
}

/** How each column of a dataset was made: "sum(kg)". */
export function madeBy(links: readonly ColumnLink[], column: string): string[] {
  const into = links.filter((link) => link.downstream_column === column && link.dependency === "DIRECT");
  return [...new Set(into.flatMap((link) => (link.logic ? [link.logic] : [])))];
}

function partOf(links: readonly ColumnLink[]): Column["part"] {
  if (links.some(isMaking)) return "made";
  if (links.some((link) => link.dependency === "DIRECT")) return "carried";
  return links.length > 0 ? "decided" : null;
}

function isMaking(link: ColumnLink): boolean {
  return link.dependency === "DIRECT" && link.type !== "IDENTITY";
}

function derivationText(link: ColumnLink, side: LinkEnd): string {
  const into = link.downstream_column ?? "";
  if (side === "downstream") return link.logic ?? "";
  return link.logic ? `${into} = ${link.logic}` : into;
}
