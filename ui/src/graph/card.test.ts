import { describe, expect, it } from "vitest";
import type { Schemas } from "../api/client";
import { FOOT, fieldsOf, HEAD, heightOf, portOf, ROW, rowsOf, schemaAt, TOOLS } from "./card";

const fields = (many: number) =>
  Array.from({ length: many }, (_, place) => ({ name: `c${place}`, type: "int", description: null }));

describe("rowsOf", () => {
  it("shows nothing while closed, and only the highlighted columns of a path", () => {
    expect(rowsOf(fields(5), 5, false, null).fields).toEqual([]);
    const rows = rowsOf(fields(5), 5, false, new Set(["c3", "gone"]));
    expect(rows.fields.map((field) => field.name)).toEqual(["c3", "gone"]);
    expect(heightOf(rows)).toBe(HEAD + 2 * ROW + FOOT);
  });

  it("shows ten per page, and keeps its height on the last one", () => {
    const first = rowsOf(fields(23), 23, true, null);
    expect([first.fields.length, first.pages, first.tools]).toEqual([10, 3, true]);
    const last = rowsOf(fields(23), 23, true, null, { page: 2, search: "" });
    expect(last.fields.map((field) => field.name)).toEqual(["c20", "c21", "c22"]);
    expect(heightOf(last)).toBe(heightOf(first));
    expect(rowsOf(fields(10), 10, true, null).tools).toBe(false);
  });

  it("finds columns by a part of their names", () => {
    const rows = rowsOf(fields(2000), 2000, true, null, { page: 99, search: " C199 " });
    expect(rows.matches).toBe(11);
    expect(rows.page).toBe(1);
    expect(rowsOf(fields(20), 20, true, null, { page: 0, search: "none" }).fields).toEqual([]);
  });

  it("has the highlighted columns first", () => {
    const rows = rowsOf(fields(30), 30, true, new Set(["c29"]));
    expect(rows.fields[0]?.name).toBe("c29");
    expect(portOf(rows, "c29")).toBe(HEAD + TOOLS + ROW / 2);
  });

  it("reserves room for columns that are not loaded yet", () => {
    expect(heightOf(rowsOf(null, 2000, true, null))).toBe(heightOf(rowsOf(fields(2000), 2000, true, null)));
  });
});

it("ends edges at the header if there is no row", () => {
  const rows = rowsOf(fields(3), 3, true, null);
  expect(portOf(rows, null)).toBe(HEAD / 2);
  expect(portOf(rows, "unknown")).toBe(HEAD / 2);
  expect(portOf(rows, "c1")).toBe(HEAD + ROW + ROW / 2);
});

it("adds columns that occur only in edges", () => {
  expect(fieldsOf(fields(1), ["b", "c0", "b", "a"]).map((field) => field.name)).toEqual(["c0", "a", "b"]);
});

it("has the schema as of that time", () => {
  const version = (at: string, names: string[] | null) => ({
    written_at: at,
    schema: names?.map((name) => ({ name, type: null, description: null })),
  });
  const detail = {
    schema: fields(3),
    versions: [
      version("2026-01-03T00:00:00Z", ["new"]),
      version("2026-01-02T00:00:00Z", null),
      version("2026-01-01T00:00:00Z", ["old"]),
    ],
  } as unknown as Schemas["DatasetDetail"];
  expect(schemaAt(detail, null)).toHaveLength(3);
  expect(schemaAt(detail, "2026-01-02T12:00:00Z").map((field) => field.name)).toEqual(["old"]);
  expect(schemaAt(detail, "2025-01-01T00:00:00Z")).toHaveLength(3);
});
