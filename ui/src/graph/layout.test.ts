import ELK from "elkjs/lib/elk.bundled.js";
import { describe, expect, it } from "vitest";
import { isArrow, nextCard } from "./arrows";
import { type Box, bounds, elkGraph, OPTIONS, placesOf, withAnchor, withRoom } from "./layout";
import { middle, route } from "./route";

const size = { width: 200, height: 80 };
const sizes = (...keys: string[]) => new Map(keys.map((key) => [key, size]));
const box = (x: number, y: number, height = 80): Box => ({ x, y, width: 200, height });
const edge = (text: string) => {
  const [from = "", to = ""] = text.split(">");
  return { from, to };
};

describe("elkGraph", () => {
  it("requests layers from left to right, never network simplex", () => {
    expect(OPTIONS["elk.direction"]).toBe("RIGHT");
    expect(OPTIONS["elk.layered.nodePlacement.strategy"]).toBe("LINEAR_SEGMENTS");
  });

  it("omits duplicates, loops and edges to missing nodes", () => {
    const graph = elkGraph(sizes("a", "b"), ["a>b", "a>b", "a>a", "a>gone", "b>a"].map(edge));
    expect(graph.edges?.map((one) => one.id)).toEqual(["n0-n1", "n1-n0"]);
  });

  it("puts outputs at the right of their inputs, in cycles too", async () => {
    const nodes = sizes("a", "b", "c");
    const places = placesOf(nodes, await new ELK().layout(elkGraph(nodes, ["a>b", "b>c", "c>a"].map(edge))));
    expect(places.get("a")?.x).toBeLessThan(places.get("b")?.x ?? 0);
    expect(places.get("b")?.x).toBeLessThan(places.get("c")?.x ?? 0);
  });

  it("lays out any number of nodes without overlap", async () => {
    const names = Array.from({ length: 80 }, (_, place) => `n${place}`);
    const edges = names.slice(1).map((name, place) => ({ from: `n${Math.floor(place / 3)}`, to: name }));
    const nodes = sizes(...names);
    const places = [...placesOf(nodes, await new ELK().layout(elkGraph(nodes, edges))).values()];
    const clash = places.some((one, place) =>
      places.some(
        (other, next) =>
          next > place &&
          one.x < other.x + 200 &&
          other.x < one.x + 200 &&
          one.y < other.y + 80 &&
          other.y < one.y + 80,
      ),
    );
    expect(clash).toBe(false);
  }, 30_000);
});

describe("keeping positions", () => {
  it("moves all nodes together, so that the clicked card stays in place", () => {
    const before = new Map([["b", box(500, 300)]]);
    const after = new Map([
      ["a", box(0, 0)],
      ["b", box(300, 100)],
    ]);
    const result = withAnchor(after, before, ["gone", "b"]);
    expect(result.get("b")).toMatchObject({ x: 500, y: 300 });
    expect(result.get("a")).toMatchObject({ x: 200, y: 200 });
    expect(withAnchor(after, new Map(), ["b"]).get("a")).toMatchObject({ x: 0, y: 0 });
  });

  it("makes room below a card that grew, only in its layer", () => {
    const places = new Map([
      ["a", box(0, 0)],
      ["b", box(0, 100)],
      ["c", box(300, 100)],
    ]);
    const grown = withRoom(places, new Map([...sizes("b", "c"), ["a", { width: 200, height: 300 }]]));
    expect(grown.get("a")).toMatchObject({ y: 0, height: 300 });
    expect(grown.get("b")?.y).toBeGreaterThanOrEqual(300);
    expect(grown.get("c")?.y).toBe(100);
    expect(withRoom(places, sizes("a", "b", "c"))).toEqual(
      new Map([
        ["a", box(0, 0)],
        ["b", box(0, 104)],
        ["c", box(300, 100)],
      ]),
    );
  });

  it("has empty bounds without nodes", () => {
    expect(bounds([])).toEqual({ x: 0, y: 0, width: 0, height: 0 });
    expect(bounds([box(-10, 5), box(100, 200)])).toEqual({ x: -10, y: 5, width: 310, height: 275 });
  });
});

describe("route", () => {
  it("leaves at the right and enters at the left", () => {
    expect(route(box(0, 0), 24, box(400, 100), 60)).toMatch(/^M200 24C.* 400 160$/);
    expect(middle(box(0, 0), 24, box(400, 100), 60)).toEqual([300, 92]);
  });

  it("bends backwards, and around its own card", () => {
    expect(route(box(400, 0), 24, box(0, 0), 24)).not.toContain("NaN");
    const own = box(0, 0);
    expect(route(own, 24, own, 60)).toContain("L");
  });
});

describe("nextCard", () => {
  const places = new Map([
    ["u1", box(0, 0)],
    ["u2", box(0, 100)],
    ["r", box(300, 90)],
    ["d", box(600, 400)],
    ["other", box(600, 90)],
  ]);
  const neighbours = (key: string, side: "up" | "down") =>
    key === "r" ? (side === "up" ? ["u1", "u2", "gone"] : ["d"]) : [];

  it("follows edges to the sides, to the nearest", () => {
    expect(nextCard("r", "ArrowLeft", places, neighbours)).toBe("u2");
    expect(nextCard("r", "ArrowRight", places, neighbours)).toBe("d");
  });

  it("goes to the nearest card if no edge leads there", () => {
    expect(nextCard("u1", "ArrowRight", places, neighbours)).toBe("r");
    expect(nextCard("u1", "ArrowLeft", places, neighbours)).toBeNull();
  });

  it("stays in the layer when moving up and down", () => {
    expect(nextCard("u1", "ArrowDown", places, neighbours)).toBe("u2");
    expect(nextCard("d", "ArrowUp", places, neighbours)).toBe("other");
    expect(nextCard("r", "ArrowDown", places, neighbours)).toBeNull();
    expect(nextCard("u1", "ArrowUp", places, neighbours)).toBeNull();
  });

  it("has a first card, and ignores loops", () => {
    expect(nextCard("gone", "ArrowUp", places, neighbours)).toBe("u1");
    expect(nextCard("r", "ArrowRight", new Map([["r", box(0, 0)]]), () => ["r"])).toBeNull();
    expect(isArrow("Enter")).toBe(false);
  });
});
