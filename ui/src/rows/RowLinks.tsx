import { Link } from "wouter";
import { type QualifiedName, to } from "../app/addresses";
import { ownNames } from "./columns";
import { conditionFor } from "./conditions";
import type { RowAvailability } from "./queries";
import type { Row } from "./values";

/** Questions about a row of an answer: it is the row of a dataset like any other. */
export function RowLinks({ row, dataset, can }: { row: Row; dataset: QualifiedName; can: RowAvailability }) {
  const back = can.instant.possible || can.spark.possible ? rowCondition(row, can.identity) : null;
  const on = can.forward.possible ? rowCondition(row, []) : null;
  return (
    <span className="row links">
      {back !== null && (
        <Link href={to.rows(dataset, { ask: "trace", condition: back })} title="Trace this row back to its sources">
          Trace
        </Link>
      )}
      {on !== null && (
        <Link href={to.rows(dataset, { ask: "forward", condition: on })} title="Trace this row forward">
          Forward
        </Link>
      )}
    </span>
  );
}

function rowCondition(row: Row, identity: readonly string[]): string | null {
  const known = identity.length > 0 && identity.every((name) => name in row);
  return conditionFor([row], known ? identity : ownNames([row]))?.condition ?? null;
}
