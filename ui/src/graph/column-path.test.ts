import { describe, expect, it } from "vitest";
import { columnPath, isOnPath, treeOf, withPath } from "./column-path";
import { mergeColumns } from "./columns";
import { columnLink, key, set, step } from "./test-data";

const up = [step("b.y"), step("a.x", ["b.y"]), step("b.f", [], "INDIRECT")];
const down = [step("d.z"), step("e.w", ["d.z"]), step("f", [], "UNKNOWN")];
const path = columnPath(set("c"), "k", up, down);
const ref = (text: string) => {
  const [name = "", column = null] = text.split(".");
  return { node: key(name), column };
};
const lit = (text: string) => {
  const [from = "", to = ""] = text.split(">");
  return isOnPath(path, { from: ref(from), to: ref(to) });
};

describe("litPath", () => {
  it("runs from the first source to the last consumer, across jobs", () => {
    expect(path.nodes[0]).toBe(key("c"));
    expect([...path.nodes].sort()).toEqual(["a", "b", "c", "d", "e", "f"].map(key));
    expect([...(path.columns.get(key("b")) ?? [])].sort()).toEqual(["f", "y"]);
    expect(path.columns.get(key("f"))?.size).toBe(0);
    const edges = [...path.edges.values()].map(({ from, to }) => `${from.node}.${from.column}>${to.node}.${to.column}`);
    expect(edges).toContain(`${key("a")}.x>${key("b")}.y`);
    expect(edges).toContain(`${key("b")}.y>${key("c")}.k`);
    expect(edges).toContain(`${key("d")}.z>${key("e")}.w`);
    expect(edges).toHaveLength(6);
  });

  it("highlights every edge within it, and none beyond the column", () => {
    expect(lit("a.x>b.y")).toBe(true);
    expect(lit("a.x>b.f")).toBe(true);
    expect(lit("b.f>c")).toBe(true);
    expect(lit("d.z>e")).toBe(true);
    expect(lit("a.x>d.z")).toBe(false);
    expect(lit("a.other>b.y")).toBe(false);
    expect(lit("c.other>d.z")).toBe(false);
  });

  it("ends in a cycle", () => {
    const round = columnPath(set("a"), "k", [step("b.k"), step("a.k", ["b.k"])], [step("b.k"), step("a.k", ["b.k"])]);
    expect(round.nodes).toEqual([key("a"), key("b")]);
    expect(round.edges.size).toBe(2);
    expect(treeOf(set("a"), "k", [step("b.k"), step("a.k", ["b.k"])])[0]?.children).toHaveLength(1);
  });

  it("begins and ends with a column without known lineage", () => {
    const alone = columnPath(set("a"), "k", [], []);
    expect(alone.nodes).toEqual([key("a")]);
    expect(alone.edges.size).toBe(0);
  });
});

describe("withPath", () => {
  it("adds unknown columns, and dataset-wide dependencies", () => {
    const known = withPath(mergeColumns([[columnLink("b.f>c", "INDIRECT"), columnLink("b.y>c.k")]]), path);
    const texts = [...known.values()].map(({ from, to }) => `${from.column}>${to.column}`);
    expect(texts).toContain("x>y");
    expect(texts).not.toContain("f>k");
  });
});

describe("treeOf", () => {
  it("attaches each node to the one from which it was reached", () => {
    const tree = treeOf(set("c"), "k", up);
    expect(tree.map((branch) => branch.ref.column)).toEqual(["y", "f"]);
    expect(tree[0]?.children.map((branch) => branch.ref.column)).toEqual(["x"]);
    expect(tree[0]?.children[0]?.step.via.logic).toBe("to a.x");
  });
});
