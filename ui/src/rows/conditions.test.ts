import { describe, expect, it } from "vitest";
import { conditionFor, countDistinct, identifyingColumns, mentionedColumns } from "./conditions";
import { parseExactJson } from "./exact-json";
import type { Row } from "./values";

describe("identifying rows", () => {
  it("identifies one row by its values", () => {
    expect(conditionFor([{ day: "2026-11-13", n: 3, ok: true, none: null }], ["day", "n", "ok", "none"])).toEqual({
      condition: "day = '2026-11-13' AND n = 3 AND ok = TRUE AND none IS NULL",
      taken: 1,
    });
  });
  it("escapes texts and names with quotes", () => {
    expect(conditionFor([{ "a`b": "it's \\ so" }], ["a`b"])?.condition).toBe("`a``b` = 'it''s \\\\ so'");
  });
  it("states common values once, and lists the rest", () => {
    const rows = [1, 2, 2].map((id) => ({ country: "DE", id }));
    expect(conditionFor(rows, ["country", "id"])?.condition).toBe("country = 'DE' AND id IN (1, 2)");
    const mixed = [
      { c: "DE", a: 1, b: null },
      { c: "DE", a: 2, b: "x" },
    ];
    expect(conditionFor(mixed, ["c", "a", "b"])?.condition).toBe(
      "c = 'DE' AND ((a = 1 AND b IS NULL) OR (a = 2 AND b = 'x'))",
    );
    expect(conditionFor([{ a: null }, { a: 1 }], ["a"])?.condition).toBe("a IS NULL OR a = 1");
  });
  it("is limited to the server's maximum, and reports the number", () => {
    const rows = Array.from({ length: 5000 }, (_, id) => ({ id, other: `o${id}` }));
    const wide = conditionFor(rows, ["id", "other"]);
    expect(wide?.taken).toBeLessThan(200);
    expect(wide?.condition.length).toBeLessThan(10_000);
    const narrow = conditionFor(rows, ["id"]);
    expect(narrow?.taken).toBeGreaterThan(500);
    expect(narrow?.condition.length).toBeLessThan(10_000);
  });
  it("returns nothing for values that cannot be written", () => {
    expect(conditionFor([{ list: [1] }], ["list"])).toBeNull();
    expect(conditionFor([], ["a"])).toBeNull();
    expect(conditionFor([{ a: 1 }], [])).toBeNull();
  });
  it("keeps a number beyond the range of doubles", () => {
    const [row] = parseExactJson('[{"id": 8311776547559383231}]') as Row[];
    expect(conditionFor([row ?? {}], ["id"])?.condition).toBe("id = 8311776547559383231");
  });
});

describe("distinguishing rows", () => {
  const rows = [1, 2, 3].map((id) => ({ site: `s${id % 2}`, id, fuel: "gas" }));
  it("uses few columns", () => {
    expect(identifyingColumns(rows, ["site", "id", "fuel"])).toEqual(["id"]);
    expect(identifyingColumns([rows[0] ?? {}], ["site", "id", "fuel"])).toHaveLength(1);
  });
  it("uses as many as needed", () => {
    const both = [
      { a: 1, b: 1 },
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ];
    expect(identifyingColumns(both, ["a", "b"])).toEqual(["a", "b"]);
    expect(countDistinct(both, ["a"])).toBe(2);
  });
});

describe("the columns of a condition", () => {
  const columns = ["kg", "records", "odd name"];
  it("finds words and quoted names, whatever their case", () => {
    expect(mentionedColumns("KG > 3 and `odd name` = 1", columns)).toEqual(["kg", "odd name"]);
  });
  it("skips string literals", () => {
    expect(mentionedColumns("day = 'kg' and x = 'it''s records' or y = \"kg\"", columns)).toEqual([]);
  });
});
