import { describe, expect, it } from "vitest";
import { transformBetween } from "./deferred-redraw";

const at = (x: number, y: number, size: number) => ({ zero: { x, y }, one: { x: x + size, y } });

describe("a map during a drag", () => {
  it("is moved as far as the camera", () => {
    expect(transformBetween(at(10, 20, 100), at(40, 15, 100))).toBe("translate(30px, -5px) scale(1)");
  });

  it("is scaled about its corner, so that every point is where it will be drawn", () => {
    expect(transformBetween(at(10, 20, 100), at(0, 0, 200))).toBe("translate(-20px, -40px) scale(2)");
  });
});
