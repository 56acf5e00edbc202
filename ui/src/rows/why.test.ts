import { describe, expect, it } from "vitest";
import { reached, stoppedByFilter, stoppedByJoin } from "./rows.fixture";
import { type Culprit, isQuiet, operatorPaths, withRowValues } from "./why";

describe("the path of a row", () => {
  it("stops at the operator that dropped all", () => {
    const [way] = operatorPaths(stoppedByFilter);
    const told = way?.operators.filter((station) => !isQuiet(station));
    expect(told?.map((station) => [station.text, station.rows, station.state])).toEqual([
      ["raw/activity", 1, "passed"],
      ["WHERE amount > 0", 0, "stopped"],
      ["INNER JOIN raw/factors ON fuel = fuel", 0, "beyond"],
      ["INNER JOIN raw/sites ON site = site", 0, "beyond"],
    ]);
    expect(told?.[1]?.culprit?.values).toEqual({ amount: -20 });
  });
  it("has a count after each", () => {
    const [way] = operatorPaths(stoppedByJoin);
    const stop = way?.operators.find((station) => station.state === "stopped");
    expect(stop?.text).toBe("INNER JOIN raw/sites ON site = site");
    expect(stop?.culprit?.explanation).toContain("no row of raw/sites");
    expect(way?.operators.slice(0, 3).map((station) => station.rows)).toEqual([4, 4, 4]);
  });
  it("reaches the end if the row arrived", () => {
    const [way] = operatorPaths(reached);
    expect(way?.operators.every((station) => station.state === "passed")).toBe(true);
  });
  it("is one per read of the source, with other operators that would have dropped it", () => {
    const [first] = stoppedByFilter.culprits;
    const twice = {
      ...stoppedByFilter,
      culprits: [first, { ...first, text: "LIMIT 3" }, { ...first, occurrence: 1 }] as Culprit[],
      survivors: [0, 1].flatMap((occurrence) => stoppedByFilter.survivors.map((each) => ({ ...each, occurrence }))),
    };
    const ways = operatorPaths(twice);
    expect(ways.map((way) => way.further.map((culprit) => culprit.text))).toEqual([["LIMIT 3"], []]);
  });
  it("says where it is unknown", () => {
    const [source] = stoppedByFilter.survivors;
    const hidden = { ...stoppedByFilter, culprits: [], survivors: [source, { ...source, rows: null }] } as never;
    expect(operatorPaths(hidden)[0]?.operators.map((station) => station.state)).toEqual(["passed", "unknown"]);
  });
});

describe("a condition with its values", () => {
  it("is inserted for filters", () => {
    const [culprit] = stoppedByFilter.culprits;
    expect(culprit && withRowValues(culprit)).toEqual({
      condition: "amount > 0",
      values: [["amount", -20]],
      verdict: "false",
    });
  });
  it("is empty for a join", () => {
    const [culprit] = stoppedByJoin.culprits;
    expect(culprit && withRowValues(culprit)).toBeNull();
  });
});
