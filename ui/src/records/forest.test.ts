import { describe, expect, it } from "vitest";
import { ancestorsOf, type Forest, forestOf, initiallyOpen, PAGE, type TreeRow, treeRows } from "./forest";
import { actionsOf, filterByAction, readRecord, readTrace, type Trace } from "./trace";
import fixture from "./trace.fixture.json";

const real = readTrace(fixture);

/** A root's records as `node: parents`, told as the server tells them. */
function traceOf(records: Record<string, string[]>, more: object = {}, root = "r"): Trace {
  const step = (node: string) => ({ node_id: node, parent_ids: records[node], action_taken: "DO", recordedAt: 1 });
  const named = new Set(Object.values(records).flat());
  const leaves = Object.keys(records).filter((node) => !named.has(node));
  const above = (leaf: string) => {
    const way = new Set([leaf]);
    for (const node of way) for (const parent of records[node] ?? []) if (parent in records) way.add(parent);
    return [...way].reverse();
  };
  const traces = (leaves.length > 0 ? leaves : Object.keys(records).slice(0, 1)).map((leaf) => ({
    record_id: leaf,
    lineage: [...above(leaf).map(step), { node_id: "FINISHED", parent_ids: [leaf], action_taken: "DATA_COMPACTION" }],
    complete: true,
  }));
  return readTrace({ root_id: root, records: Object.keys(records).length, traces, ...more });
}

const outline = (forest: Forest, open: Iterable<string> = forest.nodes.keys()) =>
  treeRows(forest, new Set(open), new Map()).map((line) =>
    "left" in line
      ? `${" ".repeat(line.level - 1)}+${line.left}`
      : `${" ".repeat(line.level - 1)}${line.id}${line.mentioned ? "*" : ""}`,
  );

describe("a real root", () => {
  it("is a tree of all its records", () => {
    expect(outline(forestOf(real))).toEqual([
      "activity-2026-11-15.csv",
      " activity",
      "  activity-profiled",
      "   activity-rejected",
      "   activity-checked",
      "    batch-1",
      "     emissions-1",
      "    batch-2",
      "     emissions-2",
    ]);
    expect(real.records).toBe(8);
  });
  it("has final steps, which are not records", () => {
    const forest = forestOf(real);
    expect(forest.nodes.has("FINISHED")).toBe(false);
    expect(forest.nodes.get("emissions-1")).toMatchObject({ end: "finished" });
    expect(forest.nodes.get("batch-1")?.end).toBeNull();
  });
  it("is limited to the branches with an action", () => {
    const failed = filterByAction(real, "DQ_CHECK_FAIL");
    expect(outline(forestOf(failed)).map((line) => line.trim())).toEqual([
      "activity-2026-11-15.csv",
      "activity",
      "activity-profiled",
      "activity-rejected",
    ]);
    expect(failed.records).toBe(3);
    expect(filterByAction(real, "NEVER").branches).toEqual([]);
  });
  it("lists the actions, each record once", () => {
    expect(actionsOf(real).slice(0, 2)).toEqual([
      ["CALCULATION_COMPLETE", 2],
      ["GLUE_BATCH_SPLIT", 2],
    ]);
  });
});

describe("what is not a tree", () => {
  it("shows a record with two parents once, with a reference at the other", () => {
    const forest = forestOf(traceOf({ a: ["r"], b: ["r"], both: ["a", "b"] }));
    expect(outline(forest).sort()).toEqual(["r", " a", "  both", " b", "  both*"].sort());
    expect(ancestorsOf(forest, "both")).toEqual(["a", "r"]);
  });
  it("shows parents that were never recorded", () => {
    const forest = forestOf(traceOf({ a: ["r"], lost: ["gone"] }, { orphans: ["gone"] }));
    expect(outline(forest)).toEqual(["r", " a", "gone", " lost"]);
    expect(forest.nodes.get("gone")?.step).toBeNull();
  });
  it("opens a cycle at one node and ends", () => {
    const forest = forestOf(traceOf({ a: ["b"], b: ["a"] }, { cycle: ["a", "b"] }));
    const lines = outline(forest);
    expect(lines).toHaveLength(4);
    expect(lines.filter((line) => line.endsWith("*"))).toHaveLength(1);
    expect([...forest.nodes.values()].filter((node) => node.onCycle)).toHaveLength(2);
  });
  it("accepts a root that is a record, and its own parent", () => {
    const forest = forestOf(traceOf({ r: ["r"], a: ["r"] }));
    expect(outline(forest)).toEqual(["r", " a"]);
    expect(forest.nodes.get("r")?.step?.action).toBe("DO");
  });
  it("keeps conflicting records, and marks a branch without a final step", () => {
    const conflicts = [{ node_id: "a", others: [{ node_id: "a", action_taken: "OTHER", parent_id: "x" }] }];
    const traces = [{ record_id: "a", lineage: [{ node_id: "a", parent_id: "r", action_taken: "DO" }] }];
    const node = forestOf(readTrace({ root_id: "r", traces, conflicts })).nodes.get("a");
    expect(node?.conflicts[0]).toMatchObject({ action: "OTHER", parents: ["x"] });
    expect(node?.end).toBe("open");
  });
  it("accepts any content", () => {
    expect(outline(forestOf(readTrace({ root_id: "r", traces: [null, { lineage: 3 }] })))).toEqual(["r"]);
    expect(readTrace(null).branches).toEqual([]);
    expect(readRecord({ recordedAt: 0, archived: true })).toMatchObject({
      at: "1970-01-01T00:00:00.000Z",
      archived: true,
    });
  });
});

describe("big roots", () => {
  const wide = forestOf(traceOf(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`n${at}`, ["r"]]))));
  it("show their first records, and count the rest", () => {
    const lines = treeRows(wide, initiallyOpen(wide), new Map());
    expect(lines).toHaveLength(1 + PAGE + 1);
    expect(lines.at(-1)).toMatchObject({ left: 10_000 - PAGE });
    expect(treeRows(wide, initiallyOpen(wide), new Map([["r", 2 * PAGE]]))).toHaveLength(2 + 2 * PAGE);
  });
  it("may be arbitrarily deep", () => {
    const deep = forestOf(
      traceOf(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`n${at}`, [at ? `n${at - 1}` : "r"]]))),
    );
    expect(treeRows(deep, initiallyOpen(deep), new Map()).length).toBeLessThan(130);
    const every = treeRows(deep, new Set(deep.nodes.keys()), new Map());
    expect((every.at(-1) as TreeRow).level).toBe(10_001);
    expect(ancestorsOf(deep, "n9999")).toHaveLength(10_000);
  });
});
