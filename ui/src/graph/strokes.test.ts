import { describe, expect, it } from "vitest";
import { lineAt } from "./hit-test";
import type { Line } from "./lines";
import { strokesOf } from "./strokes";

const line = (id: string, more: Partial<Line> = {}): Line => ({
  id,
  from: "a",
  to: "b",
  d: "M0 0C10 0 10 20 20 20",
  kind: "direct",
  lit: null,
  sign: null,
  at: [0, 0],
  of: [],
  jobs: [],
  ...more,
});

describe("strokes", () => {
  it("contain every line once", () => {
    const lines = [
      line("1", { d: "M1 1" }),
      line("2", { d: "M2 2" }),
      line("3", { d: "M3 3", kind: "indirect" }),
      line("4", { d: "M4 4", to: "c" }),
      line("5", { d: "M5 5", lit: true }),
    ];
    const strokes = strokesOf(lines);
    expect(strokes.map(({ className, d }) => [className, d])).toEqual([
      ["line direct", "M1 1M2 2"],
      ["line indirect", "M3 3"],
      ["line direct", "M4 4"],
      ["line direct on-path", "M5 5"],
    ]);
    expect(new Set(strokes.map(({ id }) => id)).size).toBe(strokes.length);
  });
});

describe("the line under the pointer", () => {
  const lines = [line("low"), line("high"), line("far", { d: "M500 0C510 0 510 20 520 20" })];

  it("is the topmost one under the pointer", () => {
    expect(lineAt(lines, 10, 10, () => true)?.id).toBe("high");
    expect(lineAt(lines, 10, 10, ({ id }) => id === "low")?.id).toBe("low");
    expect(lineAt(lines, 10, 10, () => false)).toBeNull();
  });

  it("is searched only among near lines", () => {
    const looked: string[] = [];
    lineAt(lines, 505, 10, ({ id }) => {
      looked.push(id);
      return false;
    });
    expect(looked).toEqual(["far"]);
    expect(lineAt(lines, 510, 26, () => true)).toBeNull();
    expect(lineAt(lines, 510, 24, () => true)?.id).toBe("far");
  });
});
