import { describe, expect, it } from "vitest";
import { NumberText, parse, sortedJson, toPlainJson } from "./json";

// Each number, and how Python writes it again.
const NUMBERS = [
  ["1.0", "1.0"],
  ["0.0001", "0.0001"],
  ["1e-05", "1e-05"],
  ["1e16", "1e+16"],
  ["123456789012345678", "123456789012345678"],
  ["1e15", "1000000000000000.0"],
  ["12345.678", "12345.678"],
  ["-0", "0"],
  ["-0.0", "-0.0"],
  ["1e22", "1e+22"],
  ["5e-324", "5e-324"],
  ["1.7976931348623157e308", "1.7976931348623157e+308"],
  ["100.0", "100.0"],
  ["1E2", "100.0"],
  ["1e400", "Infinity"],
  ["-2.5e-7", "-2.5e-07"],
  ["9007199254740993", "9007199254740993"],
  ["0.00012345", "0.00012345"],
  ["-1e300", "-1e+300"],
];

describe("JSON as Python formats it", () => {
  it.each(NUMBERS)("%s is %s", (text, written) => expect(sortedJson(parse(text))).toBe(written));

  it("sorts members by code points, escapes all but ASCII, and uses the last of duplicates", () => {
    const text =
      '{"\\uff5e":1,"\\ud83d\\ude00":2,"\\ud800":3,"\\ud83d":4, "a":[1,2.50],' +
      '"A":{"é":"\\u007f\\u0080\\u2028\\n\\u0001/\\/"},"a":[true,null, 1e3]}';
    expect(sortedJson(parse(text))).toBe(
      '{"A":{"\\u00e9":"\\u007f\\u0080\\u2028\\n\\u0001//"},"a":[true,null,1000.0],"\\ud800":3,"\\ud83d":4,' +
        '"\\uff5e":1,"\\ud83d\\ude00":2}',
    );
  });

  it("sorts characters with the same high surrogate by the low one", () => {
    expect(sortedJson(parse('{"😁":1,"😀":2}'))).toBe('{"\\ud83d\\ude00":2,"\\ud83d\\ude01":1}');
  });

  it.each(["", "{", "[1,]", '{"a" 1}', "01", "1.", ".5", '"\n"', '"', '"\\x"', "nul", "1 2", "{,}", "[1"])(
    "refuses %j",
    (text) => expect(() => parse(text)).toThrow(SyntaxError),
  );

  it("keeps a member called __proto__", () => {
    expect(Object.keys(toPlainJson(parse('{"__proto__": 1}')) as object)).toEqual(["__proto__"]);
    expect(parse("[ 1.50 ]")).toEqual([new NumberText("1.50")]);
  });
});
