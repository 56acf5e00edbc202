import { expect, it } from "vitest";
import { key } from "./made";
import { endpointOf, mark, nodeKey } from "./names";
import { grow, isOpen, mostOf, PLAIN, readShape, shrink, turnAll, turnColumns, writeShape } from "./shape";

it("travels in an address and back", () => {
  let shape = grow(PLAIN, key("a"), "up", 0);
  shape = grow(shape, key("a"), "down", 8);
  shape = shrink(shape, key("b"), "up");
  shape = turnColumns(shape, key("c"));
  const word = writeShape(shape);
  expect(word).toMatch(/^[\w.-]+$/);
  const again = readShape(word);
  expect(mostOf(again, key("a"), "up", 0)).toBe(8);
  expect(mostOf(again, key("a"), "down", 0)).toBe(40);
  expect(mostOf(again, key("b"), "up", 8)).toBe(0);
  expect(mostOf(again, key("c"), "up", 8)).toBe(8);
  expect(isOpen(again, key("c"))).toBe(true);
  expect(isOpen(again, key("a"))).toBe(false);
});

it("says nothing when nothing was opened, and reads nonsense as nothing", () => {
  expect(writeShape(PLAIN)).toBeNull();
  expect(writeShape(readShape("x-u9.<script>.-c.é-c"))).toBeNull();
  expect(writeShape(readShape(null))).toBeNull();
});

it("ends at what the server gives at most", () => {
  const most = grow(PLAIN, key("a"), "up", 200);
  expect(mostOf(most, key("a"), "up", 0)).toBe(400);
  expect(readShape(writeShape(most))).toEqual(most);
  expect(grow(most, key("a"), "up", 400)).toBe(most);
});

it("opens all columns, and shuts single ones again", () => {
  const all = turnAll(PLAIN);
  expect(isOpen(all, key("a"))).toBe(true);
  const but = turnColumns(all, key("a"));
  expect(isOpen(but, key("a"))).toBe(false);
  expect(isOpen(readShape(writeShape(but)), key("a"))).toBe(false);
  expect(isOpen(but, key("b"))).toBe(true);
});

it("names nodes by one word each, jobs apart from datasets", () => {
  const job = { type: "job" as const, namespace: "ns", name: "a" };
  expect(nodeKey(job)).not.toBe(key("a"));
  expect(endpointOf(nodeKey(job))).toEqual(job);
  expect(endpointOf(key('"]<b>'))).toEqual({ namespace: "ns", name: '"]<b>' });
  for (const nonsense of ["", "{}", "[1,2]", '["a"]', "null"]) expect(endpointOf(nonsense)).toBeNull();
});

it("marks 10,000 names apart", () => {
  const marks = new Set(Array.from({ length: 10_000 }, (_, place) => mark(key(`warehouse/table_${place}`))));
  expect(marks.size).toBeGreaterThan(9_997);
});
