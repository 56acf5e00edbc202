import { describe, expect, it } from "vitest";
import type { Schemas } from "../api/client";
import { rowsOf } from "./card";
import { columnPath, isOnPath } from "./column-path";
import { drawnColumns, mergeColumns } from "./columns";
import { differenceOf } from "./difference";
import { merge } from "./graph-data";
import { impactCsv, impactTotals } from "./impact";
import { type Line, linesOf } from "./lines";
import { escaped, type Palette, svgOf } from "./svg";
import { around, columnLink, key, set, step } from "./test-data";

const box = (x: number) => ({ x, y: 0, width: 248, height: 100 });
const colours = Object.fromEntries(
  ["ground", "card", "line", "ink", "dim", "edge", "accent", "good", "bad"].map((name) => [name, `the-${name}`]),
) as unknown as Palette;
const field = (name: string) => ({ name, type: "int", description: null });

function drawing(path: ReturnType<typeof columnPath> | null = null) {
  const known = merge([around(["a>b", "b>c", "c>c"])]);
  const edges = mergeColumns([[columnLink("a.x>b.x"), columnLink("a.y>b.y", "INDIRECT")]]);
  const seen = new Map([
    [key("a"), new Set(["x", "y"])],
    [key("b"), new Set(["x", "y"])],
    [key("c"), new Set<string>()],
  ]);
  return {
    edges: [...known.edges.values()],
    columns: drawnColumns(edges.values(), seen, path && ((edge) => isOnPath(path, edge))),
    places: new Map([
      [key("a"), box(0)],
      [key("b"), box(400)],
      [key("c"), box(800)],
    ]),
    rows: new Map(["a", "b"].map((name) => [key(name), rowsOf([field("x"), field("y")], 2, true, null)])),
    path,
    difference: null,
  };
}

describe("linesOf", () => {
  it("draws column edges in place of the edge between their cards", () => {
    const lines = linesOf(drawing());
    expect(lines.map((line) => line.kind).sort()).toEqual(["cards", "cards", "direct", "indirect"]);
    expect(lines.every((line) => line.lit === null && line.sign === null)).toBe(true);
  });

  it("highlights the path and draws it on top", () => {
    const lines = linesOf(drawing(columnPath(set("b"), "x", [step("a.x")], [step("c")])));
    expect(lines.map((line) => line.lit)).toEqual([false, false, true, true]);
  });

  it("marks additions and removals, and draws removed edges", () => {
    const run = (inputs: string[], column: string) =>
      ({
        inputs: inputs.map((name) => ({ dataset: set(name) })),
        outputs: [{ dataset: set("b"), facets: { schema: { fields: [{ name: column }, { name: 7 }, null] } } }],
        edges: inputs.map((name) => ({ upstream: set(name), downstream: set("b") })),
        column_edges: [columnLink(`a.${column}>b.${column}`)],
      }) as unknown as Schemas["RunDetail"];
    const difference = differenceOf(run(["a", "c"], "x"), run(["a"], "y"));
    expect([...difference.edges.values()].map((one) => one.sign)).toEqual(["−"]);
    expect([...difference.columns.values()].map((one) => one.sign + one.column)).toEqual(["+y", "−x"]);
    const lines = linesOf({ ...drawing(), difference });
    const signs = lines.filter((line) => line.sign !== null).map((line) => `${line.kind} ${line.sign}`);
    expect(signs.sort()).toEqual(["cards −", "direct −", "indirect +"]);
    expect(differenceOf(run(["a"], "x"), run(["a"], "x")).edges.size).toBe(0);
  });
});

describe("svgOf", () => {
  const card = (name: string, x = 0) => ({
    box: box(x),
    name,
    namespace: "ns",
    foot: "complete",
    rows: [{ name, type: "int", lit: true }],
    tools: false,
    chosen: false,
    hub: false,
  });
  const line = (more: Partial<Line> = {}): Line => ({
    id: "1",
    from: "a",
    to: "b",
    d: "M0 0",
    kind: "direct",
    lit: null,
    sign: null,
    at: [5, 5],
    of: [],
    jobs: [],
    ...more,
  });

  it("contains every card and every edge", () => {
    const svg = svgOf([card("one"), card("two", 2000)], [line(), line({ kind: "indirect", lit: false })], colours);
    expect(svg.match(/<path /g)).toHaveLength(2);
    expect(svg).toContain('stroke-dasharray="4 3" opacity="0.2"');
    expect(svg).toContain("two");
    const [, x = 0, , width = 0] = /viewBox="(\S+) (\S+) (\S+) /.exec(svg)?.map(Number) ?? [];
    expect(x).toBeLessThan(0);
    expect(x + width).toBeGreaterThan(2248);
  });

  it("shows names as text, whatever they contain", () => {
    const svg = svgOf([card('</text><script>alert("1")</script>&\u0000\ud800')], [], colours);
    expect(svg).not.toContain("<script");
    expect(svg).not.toContain("\u0000");
    expect(escaped("a<b>&\"'\u0007")).toBe("a&lt;b&gt;&amp;&quot;&#39;\ufffd");
    expect(escaped("\ud83d\ude00 \ud83d")).toBe("\ud83d\ude00 \ufffd");
  });

  it("has a sign besides the colour of a difference", () => {
    const svg = svgOf([card("a")], [line({ sign: "+" }), line({ sign: "−" })], colours);
    expect(svg).toContain(">+</text>");
    expect(svg).toContain(">−</text>");
  });

  it("is valid without cards", () => {
    expect(svgOf([], [], colours)).toContain("</svg>");
  });
});

describe("impact", () => {
  const affected: Schemas["Affected"][] = [
    {
      endpoint: set('b"<x>'),
      depth: 1,
      columns: [
        { name: "=1+1", dependency: "DIRECT" },
        { name: null, dependency: "INDIRECT" },
      ],
      jobs: [{ type: "job", namespace: "ns", name: "j" }],
      owner: "o,p",
      latest_run: null,
      path: ["ns/b"],
    },
    {
      endpoint: set("c"),
      depth: 2,
      columns: [],
      jobs: [{ type: "job", namespace: "ns", name: "j" }],
      owner: null,
      latest_run: null,
      path: [],
    },
  ];

  it("counts assets, named columns and jobs once", () => {
    expect(impactTotals(affected)).toEqual({ assets: 2, columns: 1, jobs: 1 });
    expect(impactTotals([])).toEqual({ assets: 0, columns: 0, jobs: 0 });
  });

  it("is a table with a line per column, without spreadsheet formulas", () => {
    const lines = impactCsv(affected).split("\r\n");
    expect(lines).toHaveLength(5);
    expect(lines[1]).toBe('1,dataset,ns,"b""<x>",\'=1+1,DIRECT,ns/j,"o,p",,,ns/b');
    expect(lines[3]).toContain(",c,,UNKNOWN,");
  });
});
