import { describe, expect, it } from "vitest";
import { layeredLayout } from "./layers";
import type { Box } from "./layout";

const edge = (text: string) => {
  const [from = "", to = ""] = text.split(">");
  return { from, to };
};
const sizes = (...keys: string[]) => new Map(keys.map((key) => [key, { width: 200, height: 80 }]));
const names = (places: Map<string, Box>) => [...places].sort(([, a], [, b]) => a.x - b.x || a.y - b.y);

describe("many cards", () => {
  it("are at the right of their sources", () => {
    const edges = ["a>b", "b>c", "a>c", "x>c"];
    const places = layeredLayout(sizes("c", "b", "a", "x"), edges.map(edge));
    for (const { from, to } of edges.map(edge)) {
      expect(places.get(from)?.x).toBeLessThan(places.get(to)?.x ?? 0);
    }
    // Not at the far left: beside what is made of it.
    expect(places.get("x")?.x).toBe(places.get("b")?.x);
  });

  it("have positions in cycles, with loops, duplicates and edges to missing nodes", () => {
    const edges = ["a>b", "b>c", "c>a", "c>c", "a>b", "a>gone"].map(edge);
    const places = layeredLayout(sizes("a", "b", "c", "alone"), edges);
    expect(places.size).toBe(4);
    expect(new Set(["a", "b", "c"].map((key) => places.get(key)?.x)).size).toBe(3);
  });

  it("do not overlap, whatever their heights", () => {
    const keys = Array.from({ length: 300 }, (_, place) => `n${place}`);
    const tall = new Map(keys.map((key, place) => [key, { width: 200, height: 60 + (place % 7) * 40 }]));
    const edges = keys.slice(1).map((key, place) => ({ from: `n${Math.floor(place / 3)}`, to: key }));
    const boxes = [...layeredLayout(tall, edges).values()];
    const clash = boxes.some((one, place) =>
      boxes.some(
        (other, next) =>
          next > place &&
          one.x < other.x + other.width &&
          other.x < one.x + one.width &&
          one.y < other.y + other.height &&
          other.y < one.y + one.height,
      ),
    );
    expect(clash).toBe(false);
  });

  it("are in the order of their parents, so that no edges of a tree cross", () => {
    const children = ["a", "b", "c"].flatMap((parent) => [1, 2, 3].map((number) => `${parent}${number}`));
    const edges = [...["a", "b", "c"].map((key) => `r>${key}`), ...children.map((key) => `${key[0]}>${key}`)];
    const shuffled = [...children].reverse().sort((one, other) => Number(one[1]) - Number(other[1]));
    const places = layeredLayout(sizes("r", "c", "a", "b", ...shuffled), edges.map(edge));
    const parents = names(places).flatMap(([key]) => (key.length === 1 && key !== "r" ? [key] : []));
    const order = names(places).flatMap(([key]) => (key.length === 2 ? [key[0] ?? ""] : []));
    expect(order).toEqual(parents.flatMap((parent) => [parent, parent, parent]));
  });

  it("may be empty", () => {
    expect(layeredLayout(new Map(), [])).toEqual(new Map());
  });
});
