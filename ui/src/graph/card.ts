/** How big a card is and where its rows are: the layout, the edges, the page and the picture go by these. Pure. */

import type { Schemas } from "../api/client";

export type Field = Schemas["Field"];

/** `explore.css` draws cards by the same numbers. */
export const WIDTH = 248;
export const HEAD = 48;
export const ROW = 24;
export const TOOLS = 36;
export const FOOT = 28;
export const PAGE = 10;

export interface ColumnPage {
  page: number;
  search: string;
}
export const FIRST_PAGE: ColumnPage = { page: 0, search: "" };

export interface CardRows {
  /** Those in sight. */
  fields: Field[];
  /** Number of reserved rows, so that paging and searching do not move other cards. */
  slots: number;
  /** There are too many to see at once: they are paged and searched. */
  tools: boolean;
  page: number;
  pages: number;
  matches: number;
  total: number;
}

const NONE: CardRows = { fields: [], slots: 0, tools: false, page: 0, pages: 0, matches: 0, total: 0 };

/**
 * The rows of a card. Open: its columns, those on a lit path first, ten a page. Shut: only those on the path.
 *
 * `count`: how many there will be, while they are not told yet.
 */
export function rowsOf(
  fields: readonly Field[] | null,
  count: number,
  open: boolean,
  lit: ReadonlySet<string> | null,
  columnPage: ColumnPage = FIRST_PAGE,
): CardRows {
  if (!open) {
    if (!lit || lit.size === 0) return NONE;
    const shown = pathFields(fields ?? [], lit);
    const page = shown.slice(0, PAGE);
    return { ...NONE, fields: page, slots: page.length, matches: shown.length, total: fields?.length ?? count };
  }
  const total = fields?.length ?? count;
  const slots = Math.min(total, PAGE);
  const tools = total > PAGE;
  if (!fields) return { ...NONE, slots, tools, pages: Math.ceil(total / PAGE), matches: total, total };
  const searchText = columnPage.search.trim().toLowerCase();
  const named = searchText === "" ? fields : fields.filter((field) => field.name.toLowerCase().includes(searchText));
  const ordered = lit && lit.size > 0 ? pathFieldsFirst(named, lit) : named;
  const pages = Math.max(1, Math.ceil(ordered.length / PAGE));
  const page = Math.min(columnPage.page, pages - 1);
  const seen = ordered.slice(page * PAGE, (page + 1) * PAGE);
  return { fields: seen, slots, tools, page, pages, matches: ordered.length, total };
}

function pathFields(fields: readonly Field[], lit: ReadonlySet<string>): Field[] {
  const known = fields.filter((field) => lit.has(field.name));
  const names = new Set(known.map((field) => field.name));
  const others = [...lit].filter((name) => !names.has(name)).sort();
  return [...known, ...others.map((name) => ({ name, type: null, description: null }))];
}

function pathFieldsFirst(fields: readonly Field[], lit: ReadonlySet<string>): Field[] {
  return [...fields.filter((field) => lit.has(field.name)), ...fields.filter((field) => !lit.has(field.name))];
}

export function heightOf(rows: Pick<CardRows, "slots" | "tools">): number {
  return HEAD + (rows.tools ? TOOLS : 0) + rows.slots * ROW + FOOT;
}

/** Where an edge ends at the card, from its top: at a row, or at its head. */
export function portOf(rows: CardRows, column: string | null): number {
  const place = column === null ? -1 : rows.fields.findIndex((field) => field.name === column);
  return place < 0 ? HEAD / 2 : HEAD + (rows.tools ? TOOLS : 0) + place * ROW + ROW / 2;
}

/** The columns of a dataset: those of its schema, and those that only edges name. */
export function fieldsOf(schema: readonly Field[], named: Iterable<string>): Field[] {
  const fields = [...schema];
  const known = new Set(schema.map((field) => field.name));
  for (const name of [...new Set(named)].sort()) {
    if (!known.has(name)) fields.push({ name, type: null, description: null });
  }
  return fields;
}

/** The schema at a time: that of the last version before it, if the version has one. */
export function schemaAt(detail: Schemas["DatasetDetail"], at: string | null): Field[] {
  if (at === null) return detail.schema;
  const moment = new Date(at).getTime();
  const before = detail.versions
    .filter((version) => new Date(version.written_at).getTime() <= moment && version.schema)
    .sort((one, other) => new Date(other.written_at).getTime() - new Date(one.written_at).getTime());
  return before[0]?.schema ?? detail.schema;
}
