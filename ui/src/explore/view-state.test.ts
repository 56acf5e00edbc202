import { expect, it } from "vitest";
import { DEFAULT_EXPANSION, toggleColumns } from "../graph/expansion";
import { applyChange, columnOn, readViewState } from "./view-state";

const start = new URLSearchParams({ namespace: "ns", name: "a/b?c&d" });

it("parses an address, and ignores an invalid time", () => {
  const where = readViewState(new URLSearchParams(`${start}&column=k&at=2026-11-15T00:00:00Z&hops=3`));
  expect(where.root).toEqual({ namespace: "ns", name: "a/b?c&d" });
  expect(where.on).toEqual(where.root);
  expect(where.of).toEqual(where.root);
  expect([where.column, where.at, where.hops]).toEqual(["k", "2026-11-15T00:00:00Z", 3]);
  expect(readViewState(new URLSearchParams("at=yesterday&hops=99&on=x")).at).toBeNull();
  expect(readViewState(new URLSearchParams("hops=99")).hops).toBe(1);
  expect(readViewState(new URLSearchParams()).root).toBeNull();
});

it("writes only values that differ from the default, and restores them", () => {
  const other = { namespace: "ns", name: "other" };
  const words = applyChange(start, {
    on: other,
    of: other,
    column: "k",
    shape: toggleColumns(DEFAULT_EXPANSION, "x"),
    hops: 1,
    impact: true,
  });
  const where = readViewState(words);
  expect(where.on).toEqual(other);
  expect(columnOn(where)).toBe("k");
  expect(where.impact).toBe(true);
  expect(words.has("hops")).toBe(false);
  const back = applyChange(words, { on: null, of: null, column: null, shape: DEFAULT_EXPANSION, impact: false });
  expect(back.toString()).toBe(start.toString());
});

it("keeps the highlighted column separate from the selected card", () => {
  const words = applyChange(start, { column: "k", on: { namespace: "ns", name: "other" } });
  expect(readViewState(words).column).toBe("k");
  expect(columnOn(readViewState(words))).toBeNull();
});

it("drops what was opened around another root", () => {
  const words = applyChange(new URLSearchParams(`${start}&column=k&shown=all&tab=runs&at=2026-01-01T00:00:00Z`), {
    root: { namespace: "n2", name: "z" },
  });
  expect(words.toString()).toBe("namespace=n2&name=z&tab=runs&at=2026-01-01T00%3A00%3A00Z");
});
