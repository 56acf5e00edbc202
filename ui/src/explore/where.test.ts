import { expect, it } from "vitest";
import { PLAIN, turnColumns } from "../graph/shape";
import { columnOn, moved, read } from "./where";

const start = new URLSearchParams({ namespace: "ns", name: "a/b?c&d" });

it("reads an address, and what is no moment as none", () => {
  const where = read(new URLSearchParams(`${start}&column=k&at=2026-11-15T00:00:00Z&hops=3`));
  expect(where.root).toEqual({ namespace: "ns", name: "a/b?c&d" });
  expect(where.on).toEqual(where.root);
  expect(where.of).toEqual(where.root);
  expect([where.column, where.at, where.hops]).toEqual(["k", "2026-11-15T00:00:00Z", 3]);
  expect(read(new URLSearchParams("at=yesterday&hops=99&on=x")).at).toBeNull();
  expect(read(new URLSearchParams("hops=99")).hops).toBe(1);
  expect(read(new URLSearchParams()).root).toBeNull();
});

it("writes only what is not so by itself, and back again", () => {
  const other = { namespace: "ns", name: "other" };
  const words = moved(start, {
    on: other,
    of: other,
    column: "k",
    shape: turnColumns(PLAIN, "x"),
    hops: 1,
    impact: true,
  });
  const where = read(words);
  expect(where.on).toEqual(other);
  expect(columnOn(where)).toBe("k");
  expect(where.impact).toBe(true);
  expect(words.has("hops")).toBe(false);
  const back = moved(words, { on: null, of: null, column: null, shape: PLAIN, impact: false });
  expect(back.toString()).toBe(start.toString());
});

it("keeps the lit column apart from the card that is looked at", () => {
  const words = moved(start, { column: "k", on: { namespace: "ns", name: "other" } });
  expect(read(words).column).toBe("k");
  expect(columnOn(read(words))).toBeNull();
});

it("leaves behind what was opened around another root", () => {
  const words = moved(new URLSearchParams(`${start}&column=k&shown=all&tab=runs&at=2026-01-01T00:00:00Z`), {
    root: { namespace: "n2", name: "z" },
  });
  expect(words.toString()).toBe("namespace=n2&name=z&tab=runs&at=2026-01-01T00%3A00%3A00Z");
});
