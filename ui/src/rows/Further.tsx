import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { type Named, to } from "../app/places";
import { Skeleton, Wrong } from "../parts/Answer";
import { Icon } from "../parts/icons";
import { amount, counted } from "../parts/words";
import { type Askable, behind } from "./ask";
import { ownNames } from "./columns";
import { naming } from "./conditions";
import { Notes } from "./Grain";
import type { InTree } from "./Steps";
import { Steps } from "./Steps";
import { isLater, type Step, stepsBack } from "./steps";

/** One step further back: at once where the job that wrote these rows left pair tables. */
export function Further({
  step,
  dataset,
  can,
  tree,
}: {
  step: Step;
  dataset: Named;
  can: Askable | undefined;
  tree: InTree;
}) {
  if (can === undefined || step.ends !== null || step.rows.length === 0) return null;
  if (can.run_id === null) return <p className="dim">A first source: no run is known to have written it.</p>;
  if (!can.instant.possible && !can.spark.possible) {
    return <p className="dim">It ends here. {can.spark.reason ?? can.instant.reason}</p>;
  }
  const by = can.instant.possible ? can.identity : ownNames(step.rows);
  const known = by.every((name) => step.rows.every((row) => name in row));
  const named = known ? naming(step.rows, by) : null;
  if (named === null) {
    return (
      <p className="dim">To go on from here, ask about its rows: they cannot be named by what is shown of them.</p>
    );
  }
  if (!can.instant.possible) {
    return (
      <p>
        <Link href={to.rows(dataset, { ask: "trace", condition: named.condition })}>
          Further back by Spark: where did {named.taken === 1 ? "this row" : `these ${amount(named.taken)} rows`} come
          from
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
          One step further back
        </button>
      </div>
      {isOpen && <Behind step={step} dataset={dataset} identity={can.identity} tree={tree} />}
    </>
  );
}

function Behind({
  step,
  dataset,
  identity,
  tree,
}: {
  step: Step;
  dataset: Named;
  identity: readonly string[];
  tree: InTree;
}) {
  const told = useQuery(behind(dataset, step.rows, identity));
  if (told.error) return <Wrong error={told.error} again={() => told.refetch()} />;
  if (told.data === undefined) return <Skeleton lines={3} />;
  if (told.data === null) return <p className="dim">Its pair tables are gone.</p>;
  const { traced: answer, taken } = told.data;
  const notes = [...answer.notes];
  if (taken < step.count) notes.push(`of the first ${counted(taken, "row")} of ${amount(step.count)} only`);
  // Equal rows are known as one, so fewer may be found; none at all is another matter.
  if (answer.count === 0)
    notes.push("none of these rows is in its latest pair tables: it has been written again since");
  else if (isLater(answer.runs, tree.passed)) {
    notes.push("it has been written again since it was read here: what follows is of the later run");
  }
  return (
    <>
      <Notes of={notes} />
      {answer.count > 0 && <Steps {...tree} below={dataset} steps={stepsBack(answer, step.place)} />}
    </>
  );
}
