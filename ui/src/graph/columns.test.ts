import { describe, expect, it } from "vitest";
import { drawnColumns, isDirect, mergeColumns, vertexCover } from "./columns";
import { columnLink, key } from "./test-data";

const rows = (columnsByCard: Record<string, string[]>) =>
  new Map(Object.entries(columnsByCard).map(([name, columns]) => [key(name), new Set(columns)]));
const summary = (edges: ReturnType<typeof drawnColumns>) =>
  edges.map(({ from, to, direct }) => `${from.column}>${to.column}${direct ? "" : " dashed"}`).sort();

describe("mergeColumns", () => {
  it("has an edge that both ends list once, with every transformation", () => {
    const edges = mergeColumns([
      [columnLink("a.x>b.y", "DIRECT", "x"), columnLink("a.x>b.y", "INDIRECT", "x > 0")],
      [columnLink("a.x>b.y", "DIRECT", "x")],
    ]);
    expect(edges.size).toBe(1);
    const [edge] = edges.values();
    expect(edge?.derivations.map((way) => way.logic)).toEqual(["x", "x > 0"]);
    expect(edge && isDirect(edge)).toBe(true);
  });

  it("keeps a loop from a column to itself", () => {
    expect(mergeColumns([[columnLink("a.x>a.x")]]).size).toBe(1);
  });
});

describe("drawnColumns", () => {
  const edges = [
    ...mergeColumns([
      [
        columnLink("a.x>b.y"),
        columnLink("a.z>b.y"),
        columnLink("a.x>b", "INDIRECT"),
        columnLink("a.x>hidden.y"),
        columnLink("a.q>b.q", "INDIRECT"),
      ],
    ]).values(),
  ];

  it("runs from row to row if both are visible", () => {
    expect(summary(drawnColumns(edges, rows({ a: ["x", "z"], b: ["y"] })))).toEqual(["x>null dashed", "x>y", "z>y"]);
  });

  it("ends at the card if the row is not visible, merged with other such edges", () => {
    const drawn = drawnColumns(edges, rows({ a: [], b: ["y", "q"] }));
    expect(summary(drawn)).toEqual(["null>q dashed", "null>y"]);
    expect(drawn.find((edge) => edge.to.column === "y")?.of).toHaveLength(2);
  });

  it("draws nothing between closed cards, nor to hidden cards", () => {
    expect(drawnColumns(edges, rows({ a: [], b: [] }))).toEqual([]);
    expect(drawnColumns(edges, rows({ b: ["y"] }))).toEqual([]);
  });

  it("keeps the highlighted path separate, and omits other edges that end at cards", () => {
    const lit = (edge: { to: { column: string | null } }) => edge.to.column === null;
    const drawn = drawnColumns(edges, rows({ a: ["x", "z"], b: ["y"] }), lit);
    expect(drawn.filter((edge) => edge.lit).map((edge) => edge.to.column)).toEqual([null]);
    expect(summary(drawnColumns(edges, rows({ a: ["q"], b: [] }), lit))).toEqual([]);
  });

  it("handles 300 nodes and 900 edges", () => {
    const links = Array.from({ length: 900 }, (_, place) =>
      columnLink(`n${place % 300}.c${Math.floor(place / 300)}>n${(place * 7 + 1) % 300}.c0`),
    );
    const all = rows(Object.fromEntries(Array.from({ length: 300 }, (_, place) => [`n${place}`, ["c0", "c1", "c2"]])));
    const begun = performance.now();
    expect(drawnColumns(mergeColumns([links]).values(), all)).toHaveLength(900);
    expect(performance.now() - begun).toBeLessThan(500);
  });
});

describe("cover", () => {
  const touches = (edges: { from: string; to: string }[]) => {
    const taken = new Set(vertexCover(edges));
    return edges.every(({ from, to }) => taken.has(from) || taken.has(to));
  };

  it("is the centre of a star", () => {
    expect(vertexCover(Array.from({ length: 50 }, (_, place) => ({ from: "hub", to: `leaf${place}` })))).toEqual([
      "hub",
    ]);
  });

  it("covers every edge, including cycles, loops and duplicates", () => {
    const edges = ["a b", "b c", "c a", "c c", "a b", "d e"].map((edge) => {
      const [from = "", to = ""] = edge.split(" ");
      return { from, to };
    });
    expect(touches(edges)).toBe(true);
    expect(vertexCover([])).toEqual([]);
  });
});
