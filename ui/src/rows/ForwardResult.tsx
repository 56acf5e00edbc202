import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { type QualifiedName, to } from "../app/addresses";
import { countOf } from "../parts/format";
import { Name } from "../parts/Name";
import { Empty } from "../parts/QueryResult";
import { between, columnsOf } from "./columns";
import { Grain, Notes } from "./Grain";
import { links as linksOf, relatedDatasets, rowAvailability } from "./queries";
import { RowCard } from "./RowCard";
import { RowLinks } from "./RowLinks";
import { RowTable } from "./RowTable";
import { JobsPassed } from "./SourceSteps";
import { datasetOf, type JobPass, jobsPassed, type RowStep, stepsForward } from "./steps";

/** What rows became: in every dataset that was made of theirs, the rows that they reached. */
export function ForwardResult({ answer, dataset }: { answer: Schemas["ForwardRows"]; dataset: QualifiedName }) {
  const known = useQuery(relatedDatasets(dataset, "downstream")).data ?? [];
  const can = useQuery(rowAvailability(dataset)).data;
  const [only] = answer.rows;
  if (answer.count === 0) return <Empty>No row matches this condition.</Empty>;
  return (
    <div className="column answer">
      {answer.count === 1 && only !== undefined ? (
        <RowCard row={only} columns={[]} links={[]} label="The row" />
      ) : (
        <section className="card column" aria-label="The rows">
          <h2>{countOf(answer.count, "row")}</h2>
          <RowTable
            rows={answer.rows}
            count={answer.count}
            columns={columnsOf(answer.rows, [])}
            label="The rows"
            {...(can && { end: (row) => <RowLinks row={row} dataset={dataset} can={can} /> })}
          />
        </section>
      )}
      {answer.ends && <Notes of={[...new Set(answer.ends.split("; "))]} />}
      <section className="column" aria-label="Downstream rows">
        <h2>{answer.count === 1 ? "Downstream of this row" : "Downstream of these rows"}</h2>
        <ReachedSteps steps={stepsForward(answer)} above={dataset} known={known} passed={[]} blurred={false} />
      </section>
    </div>
  );
}

interface StepContext {
  above: QualifiedName;
  known: readonly QualifiedName[];
  passed: readonly JobPass[];
  blurred: boolean;
}

function ReachedSteps({ steps, ...along }: StepContext & { steps: readonly RowStep[] }) {
  if (steps.length === 0) return null;
  return (
    <ol className="plain steps">
      {steps.map((step) => (
        <li key={step.place}>
          <ReachedStep step={step} {...along} />
        </li>
      ))}
    </ol>
  );
}

function ReachedStep({ step, above, known, passed, blurred }: StepContext & { step: RowStep }) {
  const dataset = datasetOf(step.dataset, known);
  const links = useQuery(linksOf(dataset)).data ?? [];
  const can = useQuery(rowAvailability(dataset)).data;
  const way = jobsPassed(passed, step.passed);
  return (
    <section className="column tight step" aria-label={`Rows of ${dataset.name.slice(-200)}`}>
      <JobsPassed way={way} />
      <header className="row wrap">
        <h3>
          <Name of={dataset.name} title={step.dataset} />
        </h3>
        <span>{step.count === 0 ? "0 rows" : countOf(step.count, "row")}</span>
        <Grain of={step.grain} blurred={blurred} />
        <span className="row links">
          <Link href={to.explore(dataset)}>Explore</Link>
          <Link href={to.rows(dataset)}>Rows</Link>
        </span>
      </header>
      {step.count === 0 ? (
        <p>
          None of the rows reached this dataset.{" "}
          <Link href={to.rows(dataset, { ask: "why-not", source: above.name, source_namespace: above.namespace })}>
            Ask why not
          </Link>
        </p>
      ) : (
        <RowTable
          rows={step.rows}
          count={step.count}
          columns={columnsOf(step.rows, between(links, above, dataset), "downstream")}
          identity={can?.identity}
          label={`Rows of ${dataset.name.slice(-200)}`}
          {...(can && { end: (row) => <RowLinks row={row} dataset={dataset} can={can} /> })}
        />
      )}
      <Notes of={step.notes} />
      {step.ends !== null && <Notes of={[`The trace ends here: ${step.ends}`]} />}
      <ReachedSteps
        steps={step.next ?? []}
        above={dataset}
        known={known}
        passed={way}
        blurred={blurred || step.grain !== "exact"}
      />
    </section>
  );
}
