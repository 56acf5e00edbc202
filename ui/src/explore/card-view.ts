/** What a card shows. Views that did not change keep their identity between renders. */

import { type CardRows, type ColumnPage, FIRST_PAGE } from "../graph/card";
import type { ColumnPath } from "../graph/column-path";
import type { Difference, Sign } from "../graph/difference";
import { isOpen } from "../graph/expansion";
import { type Card, refKey, type Side } from "../graph/names";
import type { VisibleGraph } from "../graph/visible-graph";
import type { ViewState } from "./view-state";

export interface RowView {
  name: string;
  type: string | null;
  lit: boolean;
  chosen: boolean;
  sign: Sign | null;
}

export interface CardView extends Record<string, unknown> {
  id: string;
  card: Card;
  open: boolean;
  rows: RowView[];
  slots: number;
  tools: boolean;
  page: number;
  pages: number;
  matches: number;
  total: number;
  search: string;
  more: Record<Side, number>;
  most: Record<Side, number>;
  less: Record<Side, boolean>;
  root: boolean;
  selected: boolean;
  active: boolean;
  /** Whether it is on the highlighted path; null while no path is highlighted. */
  lit: boolean | null;
}

export interface GraphState {
  shown: VisibleGraph;
  rows: ReadonlyMap<string, CardRows>;
  columnPages: ReadonlyMap<string, ColumnPage>;
  where: ViewState;
  path: ColumnPath | null;
  difference: Difference | null;
  rootKey: string | null;
  selectedKey: string | null;
  activeKey: string | null;
}

export function cardViews(seen: GraphState, before: ReadonlyMap<string, CardView>): Map<string, CardView> {
  const views = new Map<string, CardView>();
  for (const [key, node] of seen.shown.nodes) {
    const rows = seen.rows.get(key);
    if (!rows) continue;
    const { fields, ...counts } = rows;
    const lit = seen.path?.columns.get(key) ?? null;
    const view: CardView = {
      id: key,
      card: node.card,
      open: isOpen(seen.where.shape, key),
      ...counts,
      rows: fields.map(({ name, type }) => ({
        name,
        type,
        lit: lit?.has(name) ?? false,
        chosen: key === seen.path?.start.node && name === seen.path.start.column,
        sign: seen.difference?.columns.get(refKey(key, name))?.sign ?? null,
      })),
      search: (seen.columnPages.get(key) ?? FIRST_PAGE).search,
      more: node.more,
      most: node.most,
      less: node.less,
      root: key === seen.rootKey,
      selected: key === seen.selectedKey,
      active: key === (seen.activeKey ?? seen.rootKey),
      lit: seen.path ? lit !== null : null,
    };
    const former = before.get(key);
    views.set(key, former && isEqual(former, view) ? former : view);
  }
  return views;
}

function isEqual(one: CardView, other: CardView): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
