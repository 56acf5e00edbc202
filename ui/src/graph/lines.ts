/** The lines of the graph, from visible edges, positions and highlights. Pure. */

import { type CardRows, portOf } from "./card";
import type { ColumnPath } from "./column-path";
import { type ColumnEdge, columnEdgeId, type DrawnEdge } from "./columns";
import type { Difference, Sign } from "./difference";
import type { GraphEdge } from "./graph-data";
import type { Places } from "./layout";
import type { Ref } from "./names";
import { middle, route } from "./route";

/** Between cards, or between columns: direct or not; or through a job, where the event pairs no input with an output. */
export type LineKind = "cards" | "direct" | "indirect" | "via-job";

export interface Line {
  id: string;
  from: string;
  to: string;
  d: string;
  kind: LineKind;
  lit: boolean | null;
  sign: Sign | null;
  at: [x: number, y: number];
  of: ColumnEdge[];
  jobs: string[];
}

export interface GraphDrawing {
  edges: readonly GraphEdge[];
  columns: readonly DrawnEdge[];
  places: Places;
  rows: ReadonlyMap<string, CardRows>;
  path: ColumnPath | null;
  difference: Difference | null;
}

/** Every line, highlighted ones last and so on top. Column edges replace the edge between their cards. */
export function linesOf(drawing: GraphDrawing): Line[] {
  const between = new Set(drawing.columns.map(({ from, to }) => JSON.stringify([from.node, to.node])));
  const pairs = new Set(drawing.edges.map((edge) => edge.id));
  const lines: Line[] = [];
  const draw = (id: string, from: Ref, to: Ref, rest: Pick<Line, "kind" | "lit" | "sign" | "of" | "jobs">) => {
    const [start, end] = [drawing.places.get(from.node), drawing.places.get(to.node)];
    if (!start || !end) return;
    const out = portAt(drawing, from);
    const into = portAt(drawing, to);
    const d = route(start, out, end, into);
    lines.push({ id, from: from.node, to: to.node, d, at: middle(start, out, end, into), ...rest });
  };
  for (const { id, from, to, link, viaJob } of drawing.edges) {
    const sign = drawing.difference?.edges.get(id)?.sign ?? null;
    if (between.has(id)) continue;
    const jobs = link.jobs.map((job) => job.name);
    draw(id, whole(from), whole(to), {
      kind: viaJob ? "via-job" : "cards",
      lit: drawing.path && onPath(drawing.path, from, to),
      sign,
      of: [],
      jobs,
    });
  }
  for (const { id, from, to, direct, viaJob, lit, of } of drawing.columns) {
    draw(`c${id}`, from, to, {
      kind: viaJob ? "via-job" : direct ? "direct" : "indirect",
      lit,
      sign: signOf(of, drawing.difference),
      of,
      jobs: [],
    });
  }
  // What went is in no answer about now: it is drawn from the run that had it.
  for (const [id, { from, to, sign }] of drawing.difference?.edges ?? []) {
    if (!pairs.has(id) && !between.has(id))
      draw(id, whole(from), whole(to), { kind: "cards", lit: null, sign, of: [], jobs: [] });
  }
  return lines.sort((one, other) => Number(one.lit ?? false) - Number(other.lit ?? false));
}

/** Of edges drawn as one only if all of them came, or all went. */
function signOf(edges: readonly ColumnEdge[], difference: Difference | null): Sign | null {
  if (!difference) return null;
  const signs = new Set(
    edges.map((edge) => difference.columnEdges.get(columnEdgeId(edge.from, edge.to))?.sign ?? null),
  );
  return signs.size === 1 ? ([...signs][0] ?? null) : null;
}

const whole = (node: string): Ref => ({ node, column: null });

function portAt(drawing: GraphDrawing, ref: Ref): number {
  const rows = drawing.rows.get(ref.node);
  return rows ? portOf(rows, ref.column) : 0;
}

/** Cards are joined by the path where one of its column edges runs between them. */
function onPath(path: ColumnPath, from: string, to: string): boolean {
  for (const edge of path.edges.values()) if (edge.from.node === from && edge.to.node === to) return true;
  return false;
}
