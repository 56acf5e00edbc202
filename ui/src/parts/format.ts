/** Numbers, times and amounts as people read them. Pure. */

const THIN = "\u2009";

/** 1234567 → 1 234 567, with thin spaces. */
export function formatNumber(value: number): string {
  const [whole = "", rest] = String(value).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

export function countOf(value: number, one: string, many = `${one}s`): string {
  return `${formatNumber(value)} ${value === 1 ? one : many}`;
}

const SIZES = ["B", "KB", "MB", "GB", "TB", "PB"];

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < SIZES.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)}${THIN}${SIZES[unit]}`;
}

/** 2 min 3 s; of short ones the milliseconds. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)}${THIN}ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)}${THIN}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}${THIN}min ${Math.round(seconds % 60)}${THIN}s`;
  return `${Math.floor(minutes / 60)}${THIN}h ${minutes % 60}${THIN}min`;
}

const STEPS: [number, Intl.RelativeTimeFormatUnit][] = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [30, "day"],
  [12, "month"],
  [Number.POSITIVE_INFINITY, "year"],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function timeAgo(moment: string | Date, now = new Date()): string {
  let value = (new Date(moment).getTime() - now.getTime()) / 1000;
  if (Math.abs(value) < 5) return "just now";
  for (const [span, unit] of STEPS) {
    if (Math.abs(value) < span) return relative.format(Math.round(value), unit);
    value /= span;
  }
  return String(moment);
}

export function exactTime(moment: string | Date): string {
  return new Date(moment)
    .toISOString()
    .replace("T", " ")
    .replace(/(\.\d+)?Z$/, " UTC");
}

/** Where the last segment of a path begins; 0 for a name that is no path. A slash at the end belongs to the segment. */
export function lastSegmentStart(name: string): number {
  return name.length < 2 ? 0 : name.lastIndexOf("/", name.length - 2) + 1;
}

/** At most `most` characters of a name: whole segments are left out from the left; a longer last one is cut at its end. */
export function fitName(name: string, most: number): string {
  if (name.length <= most) return name;
  let start = lastSegmentStart(name);
  const room = most - 2; // for "…/"
  if (name.length - start > most) return `${name.slice(start, start + most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
  if (name.length - start > room) return name.slice(start);
  for (let next = start; next > 0 && name.length - next <= room; next = lastSegmentStart(name.slice(0, start))) {
    start = next;
  }
  return `…/${name.slice(start)}`;
}
