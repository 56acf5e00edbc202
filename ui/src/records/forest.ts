/** The records of a root as a tree that can be opened bit by bit. Pure; nothing here calls itself: a chain of ten
 * thousand records is a tree as deep as that. */

import type { RecordStep, Trace } from "./trace";

export interface RecordNode {
  id: string;
  /** null: it was never recorded and is only named as a parent. */
  step: RecordStep | null;
  /** What it is shown under. A record with several parents is at home under the first, and only mentioned elsewhere. */
  home: string | null;
  children: Child[];
  onCycle: boolean;
  conflicts: RecordStep[];
  /** Of a leaf: how its branch ends. */
  end: "finished" | "open" | null;
  finished: RecordStep | null;
}

export interface Child {
  id: string;
  mentioned: boolean;
}

export interface Forest {
  root: string;
  nodes: Map<string, RecordNode>;
  /** The root, then what does not hang on it: under parents that are missing, and in cycles. */
  tops: string[];
}

export function forestOf(trace: Trace): Forest {
  const nodes = new Map<string, RecordNode>();
  const add = (id: string, step: RecordStep | null): RecordNode => {
    const known = nodes.get(id);
    if (known) return known;
    const conflicts = trace.conflicts.get(id) ?? [];
    const onCycle = cycle.has(id);
    const node: RecordNode = { id, step, home: null, children: [], onCycle, conflicts, end: null, finished: null };
    nodes.set(id, node);
    return node;
  };
  const cycle = new Set(trace.cycle);
  const recorded: RecordStep[] = [];
  for (const branch of trace.branches) {
    for (const step of branch.steps) {
      if (nodes.has(step.node)) continue;
      add(step.node, step);
      recorded.push(step);
    }
  }
  if (!nodes.has(trace.root)) add(trace.root, null);
  for (const step of recorded) {
    const node = add(step.node, step);
    const parents = [...new Set(step.parents)].filter((parent) => parent !== step.node);
    parents.forEach((parent, place) => {
      add(parent, null).children.push({ id: step.node, mentioned: place > 0 });
      if (place === 0) node.home = parent;
    });
  }
  for (const branch of trace.branches) {
    const leaf = nodes.get(branch.leaf);
    if (leaf) Object.assign(leaf, { end: branch.end ? "finished" : "open", finished: branch.end });
  }
  const missing = [...nodes.values()].filter((node) => node.step === null && node.id !== trace.root);
  const tops = [trace.root, ...missing.map((node) => node.id)];
  return { root: trace.root, nodes, tops: [...tops, ...cycleTops(nodes, tops, recorded)] };
}

/** Nodes that are on no way down from the tops: one of each cycle, which is cut open there. */
function cycleTops(nodes: Map<string, RecordNode>, tops: readonly string[], recorded: readonly RecordStep[]): string[] {
  const seen = new Set<string>();
  const visit = (top: string) => {
    const waiting = [top];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      for (const child of nodes.get(id)?.children ?? []) if (!child.mentioned) waiting.push(child.id);
    }
  };
  for (const top of tops) visit(top);
  const cycleStarts: string[] = [];
  for (const { node } of recorded) {
    if (seen.has(node)) continue;
    const cut = nodes.get(node);
    const home = cut?.home ?? null;
    // From here on it is only mentioned where it was at home, so that going down comes to an end.
    for (const child of nodes.get(home ?? "")?.children ?? []) if (child.id === node) child.mentioned = true;
    if (cut) cut.home = null;
    cycleStarts.push(node);
    visit(node);
  }
  return cycleStarts;
}

export interface TreeRow {
  /** Its place: unique, also where a record is mentioned more than once. */
  key: string;
  id: string;
  level: number;
  place: number;
  of: number;
  mentioned: boolean;
  opens: boolean;
  isOpen: boolean;
}

/** Stands for children that are not shown yet. */
export interface MoreRow {
  key: string;
  under: string;
  level: number;
  left: number;
}

export const PAGE = 100;

/** What is to be seen, from top to bottom. Of what is closed nothing, and of many children the first ones. */
export function treeRows(
  forest: Forest,
  open: ReadonlySet<string>,
  pages: ReadonlyMap<string, number>,
): (TreeRow | MoreRow)[] {
  const lines: (TreeRow | MoreRow)[] = [];
  type Waiting = { child: Child; level: number; place: number; of: number; above: string } | MoreRow;
  const waiting: Waiting[] = forest.tops
    .map((id, at) => ({ child: { id, mentioned: false }, level: 1, place: at + 1, of: forest.tops.length, above: "" }))
    .reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if ("left" in next) {
      lines.push(next);
      continue;
    }
    const { child, level, place, of, above } = next;
    const children = forest.nodes.get(child.id)?.children ?? [];
    const opens = !child.mentioned && children.length > 0;
    const isOpen = opens && open.has(child.id);
    const key = child.mentioned ? `${JSON.stringify(above)} ${child.id}` : child.id;
    lines.push({ key, id: child.id, level, place, of, mentioned: child.mentioned, opens, isOpen });
    if (!isOpen) continue;
    const shown = children.slice(0, pages.get(child.id) ?? PAGE);
    const left = children.length - shown.length;
    if (left > 0) waiting.push({ key: `more ${child.id}`, under: child.id, level: level + 1, left });
    for (let at = shown.length - 1; at >= 0; at -= 1) {
      const one = shown[at];
      if (one) waiting.push({ child: one, level: level + 1, place: at + 1, of: children.length, above: child.id });
    }
  }
  return lines;
}

/** What is open at first: level by level, as long as it stays readable. */
export function initiallyOpen(forest: Forest, most = 120): Set<string> {
  const open = new Set<string>();
  let shown = forest.tops.length;
  const waiting = [...forest.tops];
  for (let at = 0; at < waiting.length; at += 1) {
    const id = waiting[at] ?? "";
    const children = forest.nodes.get(id)?.children ?? [];
    const more = Math.min(children.length, PAGE);
    if (more === 0) continue;
    if (at > 0 && shown + more > most) break;
    open.add(id);
    shown += more;
    for (const child of children.slice(0, PAGE)) if (!child.mentioned) waiting.push(child.id);
  }
  return open;
}

/** A node, and all that has to be open for it to be seen. */
export function ancestorsOf(forest: Forest, id: string): string[] {
  const way: string[] = [];
  const seen = new Set<string>();
  for (
    let at = forest.nodes.get(id)?.home ?? null;
    at !== null && !seen.has(at);
    at = forest.nodes.get(at)?.home ?? null
  ) {
    seen.add(at);
    way.push(at);
  }
  return way;
}
