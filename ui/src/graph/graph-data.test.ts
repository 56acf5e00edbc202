import { describe, expect, it } from "vitest";
import { edgeId, merge } from "./graph-data";
import { around, card, columnLink, key } from "./test-data";

const edge = (from: string, to: string) => edgeId(key(from), key(to));

describe("merging several responses", () => {
  it("has each card and each edge once", () => {
    const known = merge([around(["a>b", "b>c"]), around(["b>c", "c>d"])]);
    expect([...known.cards.keys()].sort()).toEqual(["a", "b", "c", "d"].map(key));
    expect([...known.edges.keys()].sort()).toEqual([edge("a", "b"), edge("b", "c"), edge("c", "d")]);
  });

  it("is complete by column if a response has the column edges", () => {
    const field = { name: "x", type: null, description: null };
    const brought = {
      ...around(["a>b"], [card("a", 0, 1, { schema: [field] })]),
      column_edges: [columnLink("a.x>b.y")],
    };
    const known = merge([brought, around(["b>c"])]);
    expect(known.columns.whole).toEqual(new Set([edge("a", "b")]));
    expect(known.columns.links).toEqual([brought.column_edges]);
    expect([...known.columns.schemas]).toEqual([[key("a"), [field]]]);
  });

  it("counts an edge without column edges as complete", () => {
    const known = merge([{ ...around(["a>b"]), column_edges: [] }]);
    expect(known.columns.whole).toEqual(new Set([edge("a", "b")]));
  });
});
