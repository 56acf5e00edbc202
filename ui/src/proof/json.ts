/**
 * JSON that keeps how each number was written. An event's digest is of its JSON as Python writes it again, where 1 and
 * 1.0 are two things; JSON.parse makes them one.
 */

export class NumberText {
  constructor(readonly text: string) {}
}

export type Json = null | boolean | string | NumberText | Json[] | Map<string, Json>;

const MOST_NESTED = 2000; // deeper than any event is taken in
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const BLANK = /[ \t\n\r]*/y;

/** Throws a SyntaxError, as JSON.parse does. */
export function parse(text: string): Json {
  const reader = new Reader(text);
  const result = reader.value(0);
  reader.end();
  return result;
}

class Reader {
  private at = 0;
  constructor(private readonly text: string) {}

  value(depth: number): Json {
    if (depth > MOST_NESTED) throw new SyntaxError("nested too deeply");
    this.take(BLANK);
    const next = this.text[this.at];
    if (next === "{") return this.object(depth);
    if (next === "[") return this.list(depth);
    if (next === '"') return this.string();
    for (const [word, value] of [["true", true] as const, ["false", false] as const, ["null", null] as const]) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    const digits = this.take(NUMBER);
    if (!digits) throw this.wrong();
    return new NumberText(digits);
  }

  end(): void {
    this.take(BLANK);
    if (this.at !== this.text.length) throw this.wrong();
  }

  private object(depth: number): Map<string, Json> {
    const result = new Map<string, Json>();
    this.at += 1;
    if (this.is("}")) return result;
    do {
      this.take(BLANK);
      const name = this.string();
      this.must(":");
      result.set(name, this.value(depth + 1)); // of two with one name the last counts
    } while (this.is(","));
    this.must("}");
    return result;
  }

  private list(depth: number): Json[] {
    const result: Json[] = [];
    this.at += 1;
    if (this.is("]")) return result;
    do result.push(this.value(depth + 1));
    while (this.is(","));
    this.must("]");
    return result;
  }

  private string(): string {
    if (this.text[this.at] !== '"') throw this.wrong();
    let end = this.at + 1;
    while (end < this.text.length && this.text[end] !== '"') end += this.text[end] === "\\" ? 2 : 1;
    const result = this.text.slice(this.at, end + 1);
    this.at = end + 1;
    return JSON.parse(result);
  }

  private is(mark: string): boolean {
    this.take(BLANK);
    if (this.text[this.at] !== mark) return false;
    this.at += 1;
    return true;
  }

  private must(mark: string): void {
    if (!this.is(mark)) throw this.wrong();
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const result = pattern.exec(this.text)?.[0] ?? "";
    this.at += result.length;
    return result;
  }

  private wrong(): SyntaxError {
    return new SyntaxError(`not JSON at character ${this.at}`);
  }
}

/** As `json.dumps(…, sort_keys=True, separators=(",", ":"))` writes it. */
export function sortedJson(value: Json): string {
  if (value instanceof NumberText) return pythonNumber(value.text);
  if (typeof value === "string") return asciiString(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(",")}]`;
  if (value instanceof Map) {
    const names = [...value.keys()].sort(byCodePoints);
    return `{${names.map((name) => `${asciiString(name)}:${sortedJson(value.get(name) ?? null)}`).join(",")}}`;
  }
  return String(value);
}

/** As JSON.parse would have made it, for what is written by the rules of RFC 8785. */
export function toPlainJson(value: Json): unknown {
  if (value instanceof NumberText) return Number(value.text);
  if (Array.isArray(value)) return value.map(toPlainJson);
  if (!(value instanceof Map)) return value;
  const result = Object.create(null); // a member may be called __proto__
  for (const [name, member] of value) result[name] = toPlainJson(member);
  return result;
}

function asciiString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function pythonNumber(text: string): string {
  if (!/[.eE]/.test(text)) return text === "-0" ? "0" : text;
  const value = Number(text);
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  const sign = value < 0 ? "-" : "";
  const all = digits.replace(/[-.]/g, "");
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${all}`;
  const whole = all.slice(0, power + 1).padEnd(power + 1, "0");
  return `${sign}${whole}.${all.slice(power + 1) || "0"}`;
}

/** JavaScript compares halves of characters, which puts those beyond U+FFFF too early. */
function byCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return rank(one, at) - rank(other, at);
  }
  return one.length - other.length;
}

function rank(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const isLow = code >= 0xdc00 && code <= 0xdfff;
  const before = text.charCodeAt(at - 1);
  // The second halves of two characters whose first halves are the same.
  if (isLow && before >= 0xd800 && before <= 0xdbff) return text.codePointAt(at - 1) ?? code;
  return text.codePointAt(at) ?? code;
}
