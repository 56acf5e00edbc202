import { describe, expect, it } from "vitest";
import { fitName, lastSegmentStart } from "./format";

describe("a name without enough room", () => {
  const path = "/warehouse/lake/raw/activity";

  it("keeps whole segments from its end", () => {
    expect(fitName(path, 40)).toBe(path);
    expect(fitName(path, 27)).toBe("…/lake/raw/activity");
    expect(fitName(path, 19)).toBe("…/lake/raw/activity");
    expect(fitName(path, 18)).toBe("…/raw/activity");
    expect(fitName(path, 10)).toBe("…/activity");
    expect(fitName(path, 9)).toBe("activity");
  });

  it("truncates its last segment only if that alone is too long", () => {
    expect(fitName(path, 6)).toBe("activ…");
    expect(fitName("x".repeat(10_000), 6)).toBe("xxxxx…");
    expect(fitName("lake/raw/", 5)).toBe("raw/");
  });

  it("never splits a character", () => {
    for (let most = 3; most < 20; most += 1) {
      const text = fitName("😀".repeat(40), most);
      expect(text.length).toBeLessThanOrEqual(most);
      expect(() => encodeURIComponent(text)).not.toThrow();
    }
  });

  it("finds the beginning of its last segment", () => {
    expect([path, "orders", "lake/raw/", "/"].map(lastSegmentStart)).toEqual([20, 0, 5, 0]);
  });
});
