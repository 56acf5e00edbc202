/** JSON whose numbers stay what they were written as. Pure.
 *
 * A key of 19 digits, or a decimal of 30, is more than a JavaScript number can hold: shown rounded, it would be
 * another row's.
 */

/** A number that is kept as it was written. */
export class ExactNumber {
  constructor(readonly text: string) {}
  toJSON(): string {
    return this.text;
  }
}

const MOST_DIGITS = 15; // so many survive being held as a double, whatever they are
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export function parseExactJson(text: string): unknown {
  let mark = "#";
  while (text.includes(`"${mark}`)) mark += "#";
  // Not every browser tells how a number was written once it is read, so the long ones are read as texts.
  const marked = text.replaceAll(TOKENS, (token) => (losesDigits(token) ? `"${mark}${token}"` : token));
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value,
  );
}

function losesDigits(token: string): boolean {
  if (token.startsWith('"') || token.length <= MOST_DIGITS || /[eE]/.test(token)) return false;
  const value = Number(token);
  if (Number.isSafeInteger(value)) return String(value) !== token.replace(/\.0+$/, "");
  return withoutTrailingZeros(String(value)) !== withoutTrailingZeros(token);
}

/** Without the zeros that say nothing. */
function withoutTrailingZeros(number: string): string {
  return number.includes(".") ? number.replace(/\.?0+$/, "") : number;
}
