import { Link } from "wouter";
import { to } from "../app/places";
import type { Difference } from "../graph/difference";
import { counted } from "../parts/words";
import type { Room } from "./Explorer";

/** Two runs are compared: what the marks on the graph mean, and the way out. */
export function DifferenceBar({ where, move, difference }: Omit<Room, "root"> & { difference: Difference | null }) {
  const { before, after } = where;
  if (before === null || after === null) return null;
  return (
    <section className="difference row wrap" aria-label="Comparison of two runs">
      <span>
        Run <code>{before.slice(0, 8)}</code> → <code>{after.slice(0, 8)}</code>
      </span>
      {difference && <Sums of={difference} />}
      <Link href={to.diff(before, after)}>The whole comparison</Link>
      <button type="button" className="quiet" onClick={() => move({ before: null, after: null })}>
        End the comparison
      </button>
    </section>
  );
}

function Sums({ of }: { of: Difference }) {
  const kinds: [word: string, list: { sign: string }[]][] = [
    ["edge", [...of.edges.values()]],
    ["column", [...of.columns.values()]],
    ["column edge", [...of.columnEdges.values()]],
  ];
  const told = (["+", "−"] as const).flatMap((sign) =>
    kinds.flatMap(([word, list]) => {
      const many = list.filter((one) => one.sign === sign).length;
      return many > 0 ? [{ sign, text: counted(many, word) }] : [];
    }),
  );
  if (told.length === 0) return <span className="dim">The same edges and columns.</span>;
  return told.map(({ sign, text }) => (
    <strong key={sign + text} className={sign === "+" ? "good" : "bad"}>
      {sign} {text}
    </strong>
  ));
}
