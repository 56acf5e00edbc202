import { describe, expect, it } from "vitest";
import { between, columnsOf, firstOf, madeBy, ownNames } from "./columns";
import { activity, daily, emissions, factors, forward, links, tracedBySpark } from "./rows.fixture";
import { stepsBack, stepsForward } from "./steps";

const [first] = stepsBack(tracedBySpark);
const rows = first?.rows ?? [];

describe("the columns that mattered", () => {
  it("are those with lineage to the output", () => {
    const columns = columnsOf(rows, between(links, emissions, daily));
    expect(firstOf(columns).map((column) => column.name)).toEqual(["day", "country", "kg"]);
    expect(columns.find((column) => column.name === "kg")).toMatchObject({
      part: "made",
      how: ["kg = sum(kg)"],
      numeric: true,
    });
    expect(columns.find((column) => column.name === "day")).toMatchObject({ part: "carried", numeric: false });
    expect(columns.find((column) => column.name === "site")?.part).toBeNull();
  });
  it("distinguish indirect from direct columns", () => {
    const of = [{ fuel: "gas", kg_per_unit: 1.9, _file: "f", _row: 0 }];
    const columns = columnsOf(of, between(links, factors, emissions));
    expect(columns.map(({ name, part }) => [name, part])).toEqual([
      ["fuel", "decided"],
      ["kg_per_unit", "made"],
      ["_file", null],
      ["_row", null],
    ]);
  });
  it("include the identifying columns, unless there are no others", () => {
    const columns = columnsOf(rows, between(links, emissions, daily));
    expect(firstOf(columns, ["activity_id"]).map((column) => column.name)).toEqual([
      "activity_id",
      "day",
      "country",
      "kg",
    ]);
    expect(firstOf(columns, ownNames(rows))).toHaveLength(3);
  });
  it("are those of the data without lineage", () => {
    const columns = columnsOf([{ a: 1, __hw_i0: 2, _file: "f", _row: 0, out_id: "x" }], []);
    expect(firstOf(columns).map((column) => column.name)).toEqual(["a"]);
    expect(columns).toHaveLength(5);
  });
  it("have their logic in the output", () => {
    const [step] = stepsForward(forward);
    const columns = columnsOf(step?.rows ?? [], between(links, activity, emissions), "downstream");
    expect(columns.find((column) => column.name === "kg")?.how).toEqual(["amount * kg_per_unit"]);
  });
});

it("shows the logic of a column", () => {
  expect(madeBy(links, "kg")).toEqual(["amount * kg_per_unit", "sum(kg)"]);
  expect(madeBy(between(links, emissions, daily), "kg")).toEqual(["sum(kg)"]);
});
