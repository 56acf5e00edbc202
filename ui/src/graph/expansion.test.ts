import { expect, it } from "vitest";
import {
  collapse,
  DEFAULT_EXPANSION,
  expand,
  isOpen,
  limitOf,
  readExpansion,
  toggleAllColumns,
  toggleColumns,
  writeExpansion,
} from "./expansion";
import { endpointOf, nodeKey, shortHash } from "./names";
import { key } from "./test-data";

it("is restored from its address", () => {
  let shape = expand(DEFAULT_EXPANSION, key("a"), "up", 0);
  shape = expand(shape, key("a"), "down", 8);
  shape = collapse(shape, key("b"), "up");
  shape = toggleColumns(shape, key("c"));
  const word = writeExpansion(shape);
  expect(word).toMatch(/^[\w.-]+$/);
  const again = readExpansion(word);
  expect(limitOf(again, key("a"), "up", 0)).toBe(8);
  expect(limitOf(again, key("a"), "down", 0)).toBe(40);
  expect(limitOf(again, key("b"), "up", 8)).toBe(0);
  expect(limitOf(again, key("c"), "up", 8)).toBe(8);
  expect(isOpen(again, key("c"))).toBe(true);
  expect(isOpen(again, key("a"))).toBe(false);
});

it("is empty without opened nodes, and ignores invalid addresses", () => {
  expect(writeExpansion(DEFAULT_EXPANSION)).toBeNull();
  expect(writeExpansion(readExpansion("x-u9.<script>.-c.é-c"))).toBeNull();
  expect(writeExpansion(readExpansion(null))).toBeNull();
});

it("is limited to the server's maximum", () => {
  const most = expand(DEFAULT_EXPANSION, key("a"), "up", 200);
  expect(limitOf(most, key("a"), "up", 0)).toBe(400);
  expect(readExpansion(writeExpansion(most))).toEqual(most);
  expect(expand(most, key("a"), "up", 400)).toBe(most);
});

it("opens all columns, and closes single ones", () => {
  const all = toggleAllColumns(DEFAULT_EXPANSION);
  expect(isOpen(all, key("a"))).toBe(true);
  const but = toggleColumns(all, key("a"));
  expect(isOpen(but, key("a"))).toBe(false);
  expect(isOpen(readExpansion(writeExpansion(but)), key("a"))).toBe(false);
  expect(isOpen(but, key("b"))).toBe(true);
});

it("gives nodes short names, jobs distinct from datasets", () => {
  const job = { type: "job" as const, namespace: "ns", name: "a" };
  expect(nodeKey(job)).not.toBe(key("a"));
  expect(endpointOf(nodeKey(job))).toEqual(job);
  expect(endpointOf(key('"]<b>'))).toEqual({ namespace: "ns", name: '"]<b>' });
  for (const nonsense of ["", "{}", "[1,2]", '["a"]', "null"]) expect(endpointOf(nonsense)).toBeNull();
});

it("distinguishes 10,000 names", () => {
  const marks = new Set(Array.from({ length: 10_000 }, (_, place) => shortHash(key(`warehouse/table_${place}`))));
  expect(marks.size).toBeGreaterThan(9_997);
});
