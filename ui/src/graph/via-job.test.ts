import { describe, expect, it } from "vitest";
import { columnPath, isOnPath, withHubs } from "./column-path";
import { drawnColumns } from "./columns";
import { DEFAULT_EXPANSION } from "./expansion";
import { merge } from "./graph-data";
import { linesOf } from "./lines";
import { nodeKey } from "./names";
import { lineClasses } from "./strokes";
import { aroundHub, hub, key, set, step } from "./test-data";
import { displayName, hubJob, isViaJob } from "./via-job";
import { missingNeighbourhoods, visibleGraph } from "./visible-graph";

const hubKey = nodeKey(hub);
const inputs = (count: number) => Array.from({ length: count }, (_, number) => `in${number}`);
const shownAround = (known: ReturnType<typeof merge>, root: string) =>
  visibleGraph(known, { root: key(root), hops: 1, shape: DEFAULT_EXPANSION, also: [] });

describe("a job between inputs and outputs", () => {
  it("is distinguished from datasets, from other jobs and from a job with a similar name", () => {
    expect(hubJob(hub)?.name).toBe("make");
    expect(displayName(hub)).toBe("make");
    expect(hubJob({ namespace: "ns", name: hub.name })).toBeNull();
    expect(hubJob({ ...hub, name: "make" })).toBeNull();
    const edge = { upstream: hub, downstream: set("out"), jobs: [{ ...hub, name: "make" }] };
    expect(isViaJob(edge)).toBe(true);
    expect(isViaJob({ ...edge, jobs: [{ ...hub, name: "other" }] })).toBe(false);
    expect(isViaJob({ ...edge, upstream: set("in") })).toBe(false);
  });

  it("is not a hop of its own: the datasets behind it are shown with it", () => {
    const shown = shownAround(merge([aroundHub(inputs(3), ["out"])]), "out");
    expect([...shown.nodes.keys()].sort()).toEqual([...inputs(3).map(key), key("out"), hubKey].sort());
    expect(shown.edges.every((edge) => edge.viaJob)).toBe(true);
  });

  it("keeps its inputs when it is selected", () => {
    const known = merge([aroundHub(inputs(3), ["out"])]);
    const shown = visibleGraph(known, { root: key("out"), hops: 1, shape: DEFAULT_EXPANSION, also: [hubKey] });
    expect(shown.nodes.size).toBe(5);
  });

  it("counts its hidden inputs, which are loaded through an output", () => {
    const known = merge([aroundHub(inputs(8), ["out"], 100)]);
    const shown = shownAround(known, "out");
    expect(shown.nodes.get(hubKey)?.more).toEqual({ up: 92, down: 0 });
    const node = shown.nodes.get(hubKey);
    if (node) node.most.up = 40;
    expect(missingNeighbourhoods(shown, new Set(known.cards.keys()))).toEqual([{ key: key("out"), limit: 40 }]);
  });
});

describe("the path of a column through a job", () => {
  const known = merge([aroundHub(["in0"], ["out"])]);
  const through = step("in0", [], "UNKNOWN");
  through.via.via_job = true;
  const path = columnPath(set("out"), "total", [through], []);

  it("leads through the job's node if it is known", () => {
    const whole = withHubs(path, known);
    expect(whole.nodes).toContain(hubKey);
    expect(whole.columns.has(hubKey)).toBe(true);
    const from = { node: hubKey, column: null };
    expect(isOnPath(whole, { from, to: { node: key("out"), column: "total" } })).toBe(true);
    const rows = new Map([key("in0"), key("out"), hubKey].map((node) => [node, new Set(["total"])]));
    const drawn = drawnColumns(whole.edges.values(), rows, (edge) => isOnPath(whole, edge));
    expect(drawn.map(({ from: start, viaJob }) => [start.node, viaJob])).toEqual([[hubKey, true]]);
  });

  it("is drawn from end to end if the node is not known", () => {
    expect(withHubs(path, merge([]))).toBe(path);
    const rows = new Map([key("in0"), key("out")].map((node) => [node, new Set(["total"])]));
    const columns = drawnColumns(path.edges.values(), rows, (edge) => isOnPath(path, edge));
    const box = { x: 0, y: 0, width: 10, height: 10 };
    const places = new Map([
      [key("in0"), box],
      [key("out"), { ...box, x: 100 }],
    ]);
    const lines = linesOf({ edges: [], columns, places, rows: new Map(), path, difference: null });
    expect(lines.map(lineClasses)).toEqual(["line via-job on-path"]);
  });
});
