import { Link } from "wouter";
import { type Named, to } from "../app/places";
import type { Askable } from "./ask";
import { ownNames } from "./columns";
import { naming } from "./conditions";
import type { Row } from "./values";

/** Questions about a row of an answer: it is the row of a dataset like any other. */
export function Onward({ row, dataset, can }: { row: Row; dataset: Named; can: Askable }) {
  const back = can.instant.possible || can.spark.possible ? namedBy(row, can.identity) : null;
  const on = can.forward.possible ? namedBy(row, []) : null;
  return (
    <span className="row links">
      {back !== null && (
        <Link href={to.rows(dataset, { ask: "trace", condition: back })} title="Where did this row come from">
          Trace
        </Link>
      )}
      {on !== null && (
        <Link href={to.rows(dataset, { ask: "forward", condition: on })} title="What did this row become">
          Forward
        </Link>
      )}
    </span>
  );
}

function namedBy(row: Row, identity: readonly string[]): string | null {
  const known = identity.length > 0 && identity.every((name) => name in row);
  return naming([row], known ? identity : ownNames([row]))?.condition ?? null;
}
