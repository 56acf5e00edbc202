import { describe, expect, it } from "vitest";
import { ExactNumber, parseExactJson } from "./exact-json";
import { displayValue, literal, quoted } from "./values";

describe("numbers", () => {
  it("within range are numbers", () => {
    const text =
      "[1, -2.5, 1e300, 9007199254740991, 243.88000000000002, 0.0001, 10000000000000000.0, 1.50000000000000000]";
    expect(parseExactJson(text)).toEqual([
      1, -2.5, 1e300, 9007199254740991, 243.88000000000002, 0.0001, 10000000000000000, 1.5,
    ]);
  });
  it("out of range keep their text", () => {
    const [large, less, fine] = parseExactJson(
      "[8311776547559383231, -9007199254740993, 0.1234567890123456789]",
    ) as unknown[];
    expect([large, less, fine].map(displayValue)).toEqual([
      "8311776547559383231",
      "-9007199254740993",
      "0.1234567890123456789",
    ]);
    expect(literal(large)).toBe("8311776547559383231");
    expect(JSON.stringify(large)).toBe('"8311776547559383231"');
    expect(large).toBeInstanceOf(ExactNumber);
  });
  it("in strings stay strings", () => {
    const told = { "8311776547559383231": 'a "8311776547559383231" \\', b: "#1", c: "##8311776547559383231" };
    expect(parseExactJson(JSON.stringify(told))).toEqual(told);
    const mixed = parseExactJson('{"a": "#x", "b": [{"c": 8311776547559383231}]}') as { b: { c: unknown }[] };
    expect(mixed).toMatchObject({ a: "#x" });
    expect(mixed.b[0]?.c).toBeInstanceOf(ExactNumber);
  });
});

describe("values", () => {
  it("are shown as text", () => {
    expect([null, undefined, true, "x", { a: [1] }].map(displayValue)).toEqual([
      "null",
      "null",
      "true",
      "x",
      '{"a":[1]}',
    ]);
    expect(displayValue("y".repeat(9000))).toHaveLength(2001);
  });
  it("have names that are valid in SQL", () => {
    expect(["a_1", "1a", "day", "date", "x y", "`"].map(quoted)).toEqual([
      "a_1",
      "`1a`",
      "day",
      "`date`",
      "`x y`",
      "````",
    ]);
  });
});
