import { describe, expect, it } from "vitest";
import { daily, forward, traced, tracedBySpark } from "./rows.fixture";
import { datasetOf, GRAINS, isLater, jobsPassed, type RowStep, stepsBack, stepsForward } from "./steps";

const outline = (steps: RowStep[] | null): unknown =>
  steps?.map((step) => [step.place, step.dataset.split("/").at(-1), step.count, outline(step.next)]);

describe("steps back", () => {
  it("has one step per source in the pair tables, without further steps", () => {
    expect(outline(stepsBack(traced))).toEqual([["0", "daily_emissions", 5, undefined]]);
    const [step] = stepsBack(traced);
    expect(step?.grain).toBe("exact");
    expect(step?.rows).toHaveLength(3);
    expect(step?.passed.map((pass) => pass.job)).toEqual(["carbon/report"]);
  });
  it("follows the jobs that Spark traced", () => {
    expect(outline(stepsBack(tracedBySpark))).toEqual([
      [
        "0",
        "emissions",
        67,
        [
          ["0.0", "activity", 67, undefined],
          ["0.1", "factors", 3, undefined],
          ["0.2", "sites", 6, undefined],
        ],
      ],
    ]);
    const [first] = stepsBack(tracedBySpark);
    expect(first?.next?.[0]?.passed.map((pass) => pass.job)).toEqual(["carbon/emissions"]);
  });
  it("is attached to the step from which it was continued", () => {
    expect(stepsBack(traced, "0.1").map((step) => step.place)).toEqual(["0.1.0"]);
  });
  it("accepts a response without its lists", () => {
    expect(stepsBack({} as never)).toEqual([]);
    expect(stepsForward({ reached: [{}] } as never)[0]).toMatchObject({ rows: [], count: 0, next: [] });
  });
});

describe("forward steps", () => {
  it("follows the rows from dataset to dataset", () => {
    expect(outline(stepsForward(forward))).toEqual([
      ["0", "emissions", 2, [["0.0", "daily_emissions", 2, [["0.0.0", "report_by_country", 1, []]]]]],
    ]);
  });
});

describe("the chain of jobs", () => {
  const pass = (run: string, hour: number) => ({ run, job: run, completed: `2026-11-17T0${hour}:00:00+00:00` });
  it("names each run once", () => {
    expect(jobsPassed([pass("a", 1)], [pass("a", 1), pass("b", 2)]).map((each) => each.run)).toEqual(["a", "b"]);
  });
  it("marks a source that was rewritten after it was read", () => {
    expect(isLater([pass("writer", 1)], [pass("reader", 2)])).toBe(false);
    expect(isLater([pass("writer", 3)], [pass("reader", 2)])).toBe(true);
    expect(isLater([], [pass("reader", 2)])).toBe(false);
  });
});

describe("names in one text", () => {
  it("uses the known one", () => {
    expect(datasetOf("a/b/c", [{ namespace: "a/b", name: "c" }])).toEqual({ namespace: "a/b", name: "c" });
    expect(datasetOf("file//warehouse/daily_emissions", [])).toEqual(daily);
  });
  it("knows common endings of namespaces", () => {
    expect(datasetOf("s3://lake/raw/orders", [])).toEqual({ namespace: "s3://lake", name: "raw/orders" });
    expect(datasetOf("postgres://db:5432/shop.public.orders", [])).toEqual({
      namespace: "postgres://db:5432",
      name: "shop.public.orders",
    });
    expect(datasetOf("alone", [])).toEqual({ namespace: "", name: "alone" });
  });
});

it("explains every grain", () => {
  for (const grain of ["exact", "group", "partition", "all", "opaque"]) expect(GRAINS[grain]).toBeTruthy();
});
