import { describe, expect, it } from "vitest";
import { collapse, DEFAULT_EXPANSION, expand } from "./expansion";
import { merge } from "./graph-data";
import { around, card, key } from "./test-data";
import { MOST_NODES, missingNeighbourhoods, visibleGraph, withRequests } from "./visible-graph";

const view = (root: string, more: Partial<Parameters<typeof visibleGraph>[1]> = {}) => ({
  root: key(root),
  hops: 1,
  shape: DEFAULT_EXPANSION,
  also: [],
  ...more,
});
const names = (shown: ReturnType<typeof visibleGraph>) =>
  [...shown.nodes.values()].map((node) => node.card.endpoint.name).sort();

describe("merge", () => {
  it("keeps each card and each edge once, the later card", () => {
    const known = merge([around(["a>b", "a>b"]), around(["a>b"], [card("a", 0, 9)])]);
    expect(known.edges.size).toBe(1);
    expect(known.cards.get(key("a"))?.downstreams).toBe(9);
    expect(known.neighbours.down.get(key("a"))).toEqual([key("b")]);
  });

  it("does not make a node its own neighbour", () => {
    const known = merge([around(["a>a", "a>b"])]);
    expect(known.neighbours.down.get(key("a"))).toEqual([key("b")]);
    expect(known.edges.size).toBe(2);
  });

  it("lists neighbours by name", () => {
    const known = merge([around(["a>c", "a>b", "a>B"])]);
    expect(known.neighbours.down.get(key("a"))).toEqual([key("B"), key("b"), key("c")]);
  });
});

describe("show", () => {
  it("begins with one hop each way and counts the rest", () => {
    const known = merge([around(["u>r", "r>d", "d>e"], [card("u", 3, 1), card("d", 1, 5)])]);
    const shown = visibleGraph(known, view("r"));
    expect(names(shown)).toEqual(["d", "r", "u"]);
    expect(shown.nodes.get(key("u"))?.more).toEqual({ up: 3, down: 0 });
    expect(shown.nodes.get(key("d"))?.more).toEqual({ up: 0, down: 5 });
    expect(shown.edges).toHaveLength(2);
  });

  it("goes farther with more hops, without turning back", () => {
    const known = merge([around(["u>r", "u>x", "r>d", "d>e", "y>d"])]);
    expect(names(visibleGraph(known, view("r", { hops: 2 })))).toEqual(["d", "e", "r", "u"]);
  });

  it("grows and shrinks at one side of one card", () => {
    const known = merge([around(["r>d", "d>e", "e>f"])]);
    const grown = expand(expand(DEFAULT_EXPANSION, key("d"), "down", 0), key("e"), "down", 0);
    expect(names(visibleGraph(known, view("r", { shape: grown })))).toEqual(["d", "e", "f", "r"]);
    // What hung on it goes with it.
    expect(names(visibleGraph(known, view("r", { shape: collapse(grown, key("d"), "down") })))).toEqual(["d", "r"]);
    expect(names(visibleGraph(known, view("r", { shape: collapse(DEFAULT_EXPANSION, key("r"), "down") })))).toEqual([
      "r",
    ]);
  });

  it("shows the first by name and counts the rest", () => {
    const many = Array.from({ length: 30 }, (_, place) => `r>d${String(place).padStart(2, "0")}`);
    const known = merge([around(many)]);
    const shown = visibleGraph(known, view("r"));
    expect(shown.nodes.size).toBe(9);
    expect(shown.nodes.get(key("r"))?.more.down).toBe(22);
    const more = visibleGraph(known, view("r", { shape: expand(DEFAULT_EXPANSION, key("r"), "down", 8) }));
    expect(more.nodes.size).toBe(31);
    expect(more.nodes.get(key("r"))?.more.down).toBe(0);
  });

  it("ends in cycles and with loops", () => {
    const known = merge([around(["a>b", "b>c", "c>a", "a>a"])]);
    const shown = visibleGraph(known, view("a", { hops: 3 }));
    expect(names(shown)).toEqual(["a", "b", "c"]);
    expect(shown.edges).toHaveLength(4);
    expect(shown.nodes.get(key("a"))?.more).toEqual({ up: 0, down: 0 });
  });

  it("shows additional nodes without their neighbours", () => {
    const known = merge([around(["r>d"]), around(["x>y", "y>z"])]);
    expect(names(visibleGraph(known, view("r", { also: [key("y"), key("unknown")] })))).toEqual(["d", "r", "y"]);
  });

  it("stops when the graph is full, and reports it", () => {
    const many = Array.from({ length: 600 }, (_, place) => `r>d${place}`);
    const also = many.map((edge) => key(edge.slice(2)));
    const shown = visibleGraph(merge([around(many)]), view("r", { also }));
    expect(shown.nodes.size).toBe(MOST_NODES);
    expect(shown.leftOut).toBeGreaterThan(0);
  });
});

describe("wanted", () => {
  it("requests nothing if the first response is complete", () => {
    const answer = around(["u>r", "r>d"]);
    const ofRoot = new Set(answer.nodes.map((one) => key(one.endpoint.name)));
    expect(missingNeighbourhoods(visibleGraph(merge([answer]), view("r")), ofRoot)).toEqual([]);
  });

  it("requests an opened side, and more of it", () => {
    const answer = around(["r>d"], [card("d", 1, 20)]);
    const ofRoot = new Set([key("r"), key("d")]);
    const once = expand(DEFAULT_EXPANSION, key("d"), "down", 0);
    expect(missingNeighbourhoods(visibleGraph(merge([answer]), view("r", { shape: once })), ofRoot)).toEqual([
      { key: key("d"), limit: 40 },
    ]);
    const third = expand(once, key("d"), "down", 40);
    expect(missingNeighbourhoods(visibleGraph(merge([answer]), view("r", { shape: third })), ofRoot)).toEqual([
      { key: key("d"), limit: 200 },
    ]);
  });

  it("requests the neighbourhood of new nodes: there may be edges to shown ones", () => {
    const [first, second] = [around(["r>d"], [card("d", 1, 1)]), around(["d>e"], [card("e", 2, 0)])];
    const shown = visibleGraph(
      merge([second, first]),
      view("r", { shape: expand(DEFAULT_EXPANSION, key("d"), "down", 0) }),
    );
    expect(missingNeighbourhoods(shown, new Set([key("r"), key("d")])).map((one) => one.key)).toContain(key("e"));
  });

  it("only grows, and is the same list without changes", () => {
    const requests = [{ key: "a", limit: 40 }];
    expect(withRequests(requests, [])).toBe(requests);
    expect(withRequests(requests, [{ key: "a", limit: 8 }])).toBe(requests);
    expect(
      withRequests(requests, [
        { key: "a", limit: 200 },
        { key: "b", limit: 40 },
      ]),
    ).toEqual([
      { key: "a", limit: 200 },
      { key: "b", limit: 40 },
    ]);
  });
});
