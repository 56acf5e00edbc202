import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { type QualifiedName, to } from "../app/addresses";
import { countOf, formatNumber } from "../parts/format";
import { Icon } from "../parts/icons";
import { ErrorMessage, Skeleton } from "../parts/QueryResult";
import { ownNames } from "./columns";
import { conditionFor } from "./conditions";
import { Notes } from "./Grain";
import { furtherTrace, type RowAvailability } from "./queries";
import type { StepTreeProps } from "./SourceSteps";
import { SourceSteps } from "./SourceSteps";
import { isLater, type RowStep, stepsBack } from "./steps";

/** Trace one step further back: at once where the job that wrote these rows left pair tables. */
export function TraceFurther({
  step,
  dataset,
  can,
  tree,
}: {
  step: RowStep;
  dataset: QualifiedName;
  can: RowAvailability | undefined;
  tree: StepTreeProps;
}) {
  if (can === undefined || step.ends !== null || step.rows.length === 0) return null;
  if (can.run_id === null) return <p className="dim">First source: no recorded run wrote it.</p>;
  if (!can.instant.possible && !can.spark.possible) {
    return <p className="dim">The trace ends here. {can.spark.reason ?? can.instant.reason}</p>;
  }
  const by = can.instant.possible ? can.identity : ownNames(step.rows);
  const known = by.every((name) => step.rows.every((row) => name in row));
  const named = known ? conditionFor(step.rows, by) : null;
  if (named === null) {
    return (
      <p className="dim">
        The shown columns do not identify these rows. Open the dataset's rows to continue the trace.
      </p>
    );
  }
  if (!can.instant.possible) {
    return (
      <p>
        <Link href={to.rows(dataset, { ask: "trace", condition: named.condition })}>
          Trace {named.taken === 1 ? "this row" : `these ${formatNumber(named.taken)} rows`} further back on Spark
        </Link>
      </p>
    );
  }
  const isOpen = tree.open.includes(step.place);
  return (
    <>
      <div>
        <button type="button" aria-expanded={isOpen} onClick={() => tree.toggle(step.place)}>
          <Icon name={isOpen ? "minus" : "plus"} size={12} />
          Trace one step further back
        </button>
      </div>
      {isOpen && <FurtherSteps step={step} dataset={dataset} identity={can.identity} tree={tree} />}
    </>
  );
}

function FurtherSteps({
  step,
  dataset,
  identity,
  tree,
}: {
  step: RowStep;
  dataset: QualifiedName;
  identity: readonly string[];
  tree: StepTreeProps;
}) {
  const further = useQuery(furtherTrace(dataset, step.rows, identity));
  if (further.error) return <ErrorMessage error={further.error} again={() => further.refetch()} />;
  if (further.data === undefined) return <Skeleton lines={3} />;
  if (further.data === null) return <p className="dim">The pair tables of this dataset no longer exist.</p>;
  const { traced: answer, taken } = further.data;
  const notes = [...answer.notes];
  if (taken < step.count) notes.push(`only for the first ${countOf(taken, "row")} of ${formatNumber(step.count)}`);
  // Equal rows are known as one, so fewer may be found; none at all is another matter.
  if (answer.count === 0)
    notes.push("none of these rows is in the latest pair tables: the dataset was rewritten since");
  else if (isLater(answer.runs, tree.passed)) {
    notes.push("the dataset was rewritten after this run read it: the steps below belong to the later run");
  }
  return (
    <>
      <Notes of={notes} />
      {answer.count > 0 && <SourceSteps {...tree} below={dataset} steps={stepsBack(answer, step.place)} />}
    </>
  );
}
