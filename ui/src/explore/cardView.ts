/** What a card shows. Made anew for each picture, and the former one kept where nothing changed. */

import { FIRST, type Leaf, type Rows } from "../graph/card";
import type { Difference, Sign } from "../graph/difference";
import type { Path } from "../graph/lit";
import { type Card, refKey, type Side } from "../graph/names";
import { isOpen } from "../graph/shape";
import type { Shown } from "../graph/shown";
import type { Where } from "./where";

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
  found: number;
  total: number;
  search: string;
  more: Record<Side, number>;
  most: Record<Side, number>;
  less: Record<Side, boolean>;
  root: boolean;
  selected: boolean;
  active: boolean;
  /** On the lit path, or beside it; null while none is lit. */
  lit: boolean | null;
}

export interface Seen {
  shown: Shown;
  rows: ReadonlyMap<string, Rows>;
  leaves: ReadonlyMap<string, Leaf>;
  where: Where;
  path: Path | null;
  difference: Difference | null;
  rootKey: string | null;
  selectedKey: string | null;
  activeKey: string | null;
}

export function cardViews(seen: Seen, before: ReadonlyMap<string, CardView>): Map<string, CardView> {
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
      search: (seen.leaves.get(key) ?? FIRST).search,
      more: node.more,
      most: node.most,
      less: node.less,
      root: key === seen.rootKey,
      selected: key === seen.selectedKey,
      active: key === (seen.activeKey ?? seen.rootKey),
      lit: seen.path ? lit !== null : null,
    };
    const former = before.get(key);
    views.set(key, former && same(former, view) ? former : view);
  }
  return views;
}

function same(one: CardView, other: CardView): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
