import { Link } from "wouter";
import { to } from "../app/addresses";
import type { Difference } from "../graph/difference";
import { countOf } from "../parts/format";
import type { ExplorerProps } from "./Explorer";

/** Two runs are compared: what the marks on the graph mean, and the way out. */
export function DifferenceBar({
  where,
  move,
  difference,
}: Omit<ExplorerProps, "root"> & { difference: Difference | null }) {
  const { before, after } = where;
  if (before === null || after === null) return null;
  return (
    <section className="difference row wrap" aria-label="Comparison of two runs">
      <span>
        Run <code>{before.slice(0, 8)}</code> → <code>{after.slice(0, 8)}</code>
      </span>
      {difference && <DifferenceCounts of={difference} />}
      <Link href={to.diff(before, after)}>Full comparison</Link>
      <button type="button" className="quiet" onClick={() => move({ before: null, after: null })}>
        Close comparison
      </button>
    </section>
  );
}

function DifferenceCounts({ of }: { of: Difference }) {
  const kinds: [word: string, list: { sign: string }[]][] = [
    ["edge", [...of.edges.values()]],
    ["column", [...of.columns.values()]],
    ["column edge", [...of.columnEdges.values()]],
  ];
  const counts = (["+", "−"] as const).flatMap((sign) =>
    kinds.flatMap(([word, list]) => {
      const many = list.filter((one) => one.sign === sign).length;
      return many > 0 ? [{ sign, text: countOf(many, word) }] : [];
    }),
  );
  if (counts.length === 0) return <span className="dim">Both runs have the same edges and columns.</span>;
  return counts.map(({ sign, text }) => (
    <strong key={sign + text} className={sign === "+" ? "good" : "bad"}>
      {sign} {text}
    </strong>
  ));
}
