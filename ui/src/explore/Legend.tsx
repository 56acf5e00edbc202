import type { Line, LineKind } from "../graph/lines";
import { VIA_JOB, VIA_JOB_REASON } from "../graph/via-job";

const ENTRIES: [kind: LineKind, meaning: string][] = [
  ["cards", "data flows from one dataset to the other"],
  ["direct", "direct: the value comes from this column"],
  ["indirect", "indirect: the column decides which rows there are, or their order"],
  ["via-job", `${VIA_JOB}: ${VIA_JOB_REASON}`],
];

/** What the lines of this picture mean; nothing where all of them mean that data flows. */
export function Legend({ lines }: { lines: readonly Line[] }) {
  const kinds = new Set(lines.map((line) => line.kind));
  if ([...kinds].every((kind) => kind === "cards")) return null;
  return (
    <ul className="plain legend" aria-label="Legend">
      {ENTRIES.filter(([kind]) => kinds.has(kind)).map(([kind, meaning]) => (
        <li key={kind} className="row">
          <svg width="32" height="8" aria-hidden="true">
            <path className={`line ${kind}`} d="M1 4H31" />
          </svg>
          {meaning}
        </li>
      ))}
    </ul>
  );
}
