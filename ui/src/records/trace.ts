/** The server's record documents as types; malformed parts are skipped. Pure. */

export interface RecordStep {
  node: string;
  parents: string[];
  action: string;
  at: string | null;
  location: string;
}

/** How one leaf came to be. */
export interface RecordBranch {
  leaf: string;
  steps: RecordStep[];
  /** The step that ends it, which no record is: null where it has none. */
  end: RecordStep | null;
  complete: boolean;
  orphans: string[];
}

export interface Trace {
  root: string;
  records: number;
  branches: RecordBranch[];
  orphans: string[];
  cycle: string[];
  /** By node: the contents that do not hold. */
  conflicts: Map<string, RecordStep[]>;
}

export interface RecordMatch extends RecordStep {
  root: string;
  archived: boolean;
  conflict: boolean;
}

const FINISHED = "FINISHED";

export function readTrace(document: unknown): Trace {
  const trace = asObject(document);
  const conflicts = list(trace.conflicts).map(asObject);
  return {
    root: text(trace.root_id),
    records: typeof trace.records === "number" ? trace.records : 0,
    branches: list(trace.traces).map((item) => readBranch(asObject(item))),
    orphans: texts(trace.orphans),
    cycle: texts(trace.cycle),
    conflicts: new Map(conflicts.map((item) => [text(item.node_id), list(item.others).map(readStep)])),
  };
}

function readBranch(document: JsonObject): RecordBranch {
  const leaf = text(document.record_id);
  const steps = list(document.lineage).map(readStep);
  const last = steps.at(-1);
  const ends = last !== undefined && last.node === FINISHED && last.parents[0] === leaf;
  return {
    leaf,
    steps: ends ? steps.slice(0, -1) : steps,
    end: ends ? last : null,
    complete: document.complete === true,
    orphans: texts(document.orphans),
  };
}

function readStep(document: unknown): RecordStep {
  const step = asObject(document);
  const parents = texts(step.parent_ids);
  return {
    node: text(step.node_id),
    parents: parents.length > 0 ? parents : texts([step.parent_id]),
    action: text(step.action_taken),
    at: momentOf(step),
    location: text(step.storage_location),
  };
}

export function readRecord(document: unknown): RecordMatch {
  const record = asObject(document);
  return {
    ...readStep(document),
    root: text(record.root_id),
    archived: record.archived === true,
    conflict: record.conflict === true,
  };
}

function momentOf(step: JsonObject): string | null {
  if (typeof step.recorded_at === "string" && !Number.isNaN(Date.parse(step.recorded_at))) return step.recorded_at;
  const seconds = step.recordedAt;
  return typeof seconds === "number" && Math.abs(seconds) < 8.64e12 ? new Date(seconds * 1000).toISOString() : null;
}

/** The branches that contain an action. */
export function filterByAction(trace: Trace, action: string): Trace {
  const branches = trace.branches.filter((branch) => branch.steps.some((step) => step.action === action));
  const nodes = new Set(branches.flatMap((branch) => branch.steps.map((step) => step.node)));
  return {
    ...trace,
    branches,
    records: nodes.size,
    orphans: [...new Set(branches.flatMap((branch) => branch.orphans))].sort(),
    cycle: trace.cycle.filter((node) => nodes.has(node)),
    conflicts: new Map([...trace.conflicts].filter(([node]) => nodes.has(node))),
  };
}

/** What was done, and to how many records; the most frequent first. */
export function actionsOf(trace: Trace): [action: string, records: number][] {
  const seen = new Map<string, string>();
  for (const branch of trace.branches) for (const step of branch.steps) seen.set(step.node, step.action);
  const counts = new Map<string, number>();
  for (const action of seen.values()) counts.set(action, (counts.get(action) ?? 0) + 1);
  return [...counts].sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1));
}

type JsonObject = Record<string, unknown>;

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(value: unknown): string[] {
  return list(value).filter((item) => typeof item === "string");
}
