import { describe, expect, it } from "vitest";
import { flowOf } from "./flows";
import { LEDGER, ledgerOf, rowsRead, unaccounted } from "./ledger";
import { deadLettersOf, gapsOf, pipelineSteps, planSteps } from "./step-rows";

const counts = (read: number, processed: number, filtered = 0, errored = 0) => ({
  inputRecordCount: read,
  processedCount: processed,
  filteredCount: filtered,
  erroredCount: errored,
});
const ledger = (told: object) => ledgerOf({ [LEDGER]: told });
const orders = { dataset: "raw/orders", ...counts(10, 7, 2, 1), balanced: true, exact: true };

describe("a ledger", () => {
  it("is missing if the run has none", () => expect(ledgerOf({})).toBeNull());

  it("balances by its counts", () => {
    const found = ledger({ ...counts(10, 7, 2, 1), sources: [orders], balanced: true });
    expect(found?.balanced).toBe(true);
    expect(found && rowsRead(found)).toBe(10);
    expect(ledger({ sources: [{ ...orders, processedCount: 6 }], balanced: true })?.balanced).toBe(false);
    expect(ledger({ sources: [orders], balanced: false })?.balanced).toBe(false);
    expect(ledger({ ...counts(12, 7, 2, 1), sources: [orders], balanced: true })?.balanced).toBe(false);
    expect(ledger({ sources: [{ ...orders, beyond: ["part-0"] }] })?.balanced).toBe(false);
  });

  it("is undecided if it cannot be computed", () => {
    const reason = { dataset: "raw/log", reason: "rows without a place" };
    expect(ledger({ sources: [orders], notFollowed: [reason] })?.balanced).toBeNull();
    expect(ledger({ sources: [orders], balanced: null, partly: "one item in 10" })?.balanced).toBeNull();
    expect(ledger({ sources: [] })?.balanced).toBeNull();
    expect(ledger({ sources: [{ dataset: "a", inputRecordCount: 3 }] })?.balanced).toBeNull();
  });

  it("has a part for each of several outputs, and balances if all do", () => {
    const [one, other] = [
      { output: "a", sources: [orders] },
      { output: "b", sources: [orders] },
    ];
    expect(ledger({ outputs: [one, other] })).toMatchObject({
      balanced: true,
      parts: [{ output: "a" }, { output: "b" }],
    });
    expect(ledger({ outputs: [one, { ...other, partly: "x" }] })?.balanced).toBeNull();
    expect(ledger({ outputs: [one, other], balanced: false })?.balanced).toBe(false);
  });

  it.each([
    null,
    3,
    "text",
    [],
    { sources: 3 },
    { sources: [null, 3, "x", []] },
    { outputs: "x" },
    { sources: { a: 1 } },
  ])("is read as far as it can be: %j", (told) => expect(ledgerOf({ [LEDGER]: told })?.balanced).toBeNull());

  it("counts missing and surplus rows", () => {
    const told = [counts(10, 7), counts(10, 12), { inputRecordCount: 4 }].map((one, at) => ({
      dataset: `${at}`,
      ...one,
    }));
    expect(ledger({ sources: told })?.parts[0]?.accounts.map(unaccounted)).toEqual([3, -2, null]);
    expect(ledger({ ...counts(5, 5) })?.parts[0]?.accounts[0]).toMatchObject({ source: "all sources", read: 5 });
  });
});

const pipeline = {
  headwater_pipeline: {
    pipeline_id: "p1",
    nodes: [
      { name: "orders", type: "source", counts: { items: 10, emitted: 10, filtered: 0 }, seconds: 1.5 },
      { name: "valid", type: "transform", counts: { items: 10, emitted: 8, filtered: 2 } },
      { name: "priced", type: "map", counts: { items: 8, emitted: 7, dead_letters: 1 } },
    ],
  },
};

describe("the streams of a ledger", () => {
  const steps = pipelineSteps(pipeline);

  it("end at the step where the rows ended", () => {
    const part = ledger({ sources: [orders] })?.parts[0];
    expect(part && flowOf(part, steps).links.map(({ target, value }) => [target, value])).toEqual([
      ["processed", 7],
      ["filtered at valid", 2],
      ["errored at priced", 1],
    ]);
  });

  it("name no step if the counts do not add up", () => {
    const part = ledger({ sources: [{ ...orders, ...counts(10, 5, 4, 1) }] })?.parts[0];
    expect(part && flowOf(part, steps).links.map((link) => link.target)).toEqual([
      "processed",
      "filtered",
      "errored at priced",
    ]);
  });

  it("are merged before they are split by step", () => {
    const part = ledger({ sources: [orders, { dataset: "b", ...counts(4, 4) }] })?.parts[0];
    const { nodes, links } = part ? flowOf(part, steps) : { nodes: [], links: [] };
    expect(links.map(({ source, target, value }) => [source, target, value])).toEqual([
      ["source 0", "processed", 7],
      ["source 0", "filtered", 2],
      ["source 0", "errored", 1],
      ["source 1", "processed", 4],
      ["filtered", "filtered at valid", 2],
      ["errored", "errored at priced", 1],
    ]);
    expect(nodes.find((node) => node.id === "processed")?.rows).toBe(11);
  });

  it("show missing rows", () => {
    const part = ledger({ sources: [{ dataset: "a", ...counts(10, 7) }] })?.parts[0];
    expect(part && flowOf(part).links.map(({ end, value }) => [end, value])).toEqual([
      ["processed", 7],
      ["missing", 3],
    ]);
  });
});

describe("the steps of a run", () => {
  const output = { dataset: { namespace: "file", name: "/dead_letters/p1/priced" }, facets: {} };

  it("have their dead letters, and the location of these", () => {
    expect(deadLettersOf(pipeline, [output])).toEqual([{ node: "priced", letters: 1, dataset: output.dataset }]);
    expect(deadLettersOf(pipeline, [])).toEqual([{ node: "priced", letters: 1, dataset: null }]);
  });

  it("are below the steps that they feed, and cycles are not followed", () => {
    const nodes = [
      { name: "Write", parent: -1 },
      { name: "Join", parent: 0 },
      { name: "A", parent: 1 },
      { name: "B", parent: 9 },
    ];
    const [group] = planSteps({ headwater_telemetry: { writes: [{ nodes }] } }, []);
    expect(group?.steps.map((step) => step.depth)).toEqual([0, 1, 2, 0]);
  });

  it("are marked if lineage does not continue through them", () => {
    const gap = { operator: "LogicalRDD", reason: "its code cannot be read", columns: [] };
    const use = { dataset: { namespace: "file", name: "/scored" }, facets: { headwater_coverage: { gaps: [gap] } } };
    const gaps = gapsOf([use]);
    expect(gaps).toEqual([{ ...gap, output: "file//scored" }]);
    const write = { output: use.dataset, nodes: [{ name: "Scan ExistingRDD" }, { name: "Filter" }] };
    const [group] = planSteps({ headwater_telemetry: { writes: [write] } }, gaps ?? []);
    expect(group?.steps.map((step) => step.gap)).toEqual(["its code cannot be read", null]);
    expect(gapsOf([output])).toBeNull();
  });

  it.each([null, 1, "x", [], { nodes: [1, null] }, { writes: 1 }])("are none in %j", (told) => {
    expect(pipelineSteps({ headwater_pipeline: told })).toEqual([]);
    expect(planSteps({ headwater_telemetry: told }, [])).toEqual([]);
  });
});
