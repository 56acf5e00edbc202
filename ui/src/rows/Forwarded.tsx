import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { type Named, to } from "../app/places";
import { Empty } from "../parts/Answer";
import { Name } from "../parts/Name";
import { counted } from "../parts/words";
import { askable, links as linksOf, relatives } from "./ask";
import { between, columnsOf } from "./columns";
import { Grain, Notes } from "./Grain";
import { Onward } from "./Onward";
import { RowCard } from "./RowCard";
import { Passed } from "./Steps";
import { datasetOf, type Pass, passing, type Step, stepsOnward } from "./steps";
import { Table } from "./Table";

/** What rows became: in every dataset that was made of theirs, the rows that they reached. */
export function Forwarded({ answer, dataset }: { answer: Schemas["ForwardRows"]; dataset: Named }) {
  const known = useQuery(relatives(dataset, "downstream")).data ?? [];
  const can = useQuery(askable(dataset)).data;
  const [only] = answer.rows;
  if (answer.count === 0) return <Empty>No row is so.</Empty>;
  return (
    <div className="column answer">
      {answer.count === 1 && only !== undefined ? (
        <RowCard row={only} columns={[]} links={[]} label="The row" />
      ) : (
        <section className="card column" aria-label="The rows">
          <h2>{counted(answer.count, "row")}</h2>
          <Table
            rows={answer.rows}
            count={answer.count}
            columns={columnsOf(answer.rows, [])}
            label="The rows"
            {...(can && { end: (row) => <Onward row={row} dataset={dataset} can={can} /> })}
          />
        </section>
      )}
      {answer.ends && <Notes of={[...new Set(answer.ends.split("; "))]} />}
      <section className="column" aria-label="What it became">
        <h2>{answer.count === 1 ? "It became" : "They became"}</h2>
        <Reached steps={stepsOnward(answer)} above={dataset} known={known} passed={[]} blurred={false} />
      </section>
    </div>
  );
}

interface Along {
  above: Named;
  known: readonly Named[];
  passed: readonly Pass[];
  blurred: boolean;
}

function Reached({ steps, ...along }: Along & { steps: readonly Step[] }) {
  if (steps.length === 0) return null;
  return (
    <ol className="plain steps">
      {steps.map((step) => (
        <li key={step.place}>
          <Target step={step} {...along} />
        </li>
      ))}
    </ol>
  );
}

function Target({ step, above, known, passed, blurred }: Along & { step: Step }) {
  const dataset = datasetOf(step.dataset, known);
  const links = useQuery(linksOf(dataset)).data ?? [];
  const can = useQuery(askable(dataset)).data;
  const way = passing(passed, step.passed);
  return (
    <section className="column tight step" aria-label={`Rows of ${dataset.name.slice(-200)}`}>
      <Passed way={way} />
      <header className="row wrap">
        <h3>
          <Name of={dataset.name} title={step.dataset} />
        </h3>
        <span>{step.count === 0 ? "no row" : counted(step.count, "row")}</span>
        <Grain of={step.grain} blurred={blurred} />
        <span className="row links">
          <Link href={to.explore(dataset)}>Explore</Link>
          <Link href={to.rows(dataset)}>Its rows</Link>
        </span>
      </header>
      {step.count === 0 ? (
        <p>
          None of them is in it.{" "}
          <Link href={to.rows(dataset, { ask: "why-not", source: above.name, source_namespace: above.namespace })}>
            Ask why
          </Link>
        </p>
      ) : (
        <Table
          rows={step.rows}
          count={step.count}
          columns={columnsOf(step.rows, between(links, above, dataset), "downstream")}
          identity={can?.identity}
          label={`Rows of ${dataset.name.slice(-200)}`}
          {...(can && { end: (row) => <Onward row={row} dataset={dataset} can={can} /> })}
        />
      )}
      <Notes of={step.notes} />
      {step.ends !== null && <Notes of={[`It was not followed further: ${step.ends}`]} />}
      <Reached
        steps={step.next ?? []}
        above={dataset}
        known={known}
        passed={way}
        blurred={blurred || step.grain !== "exact"}
      />
    </section>
  );
}
