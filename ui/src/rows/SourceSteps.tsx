import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { type QualifiedName, to } from "../app/addresses";
import { countOf, fitName } from "../parts/format";
import { Name } from "../parts/Name";
import { between, columnsOf } from "./columns";
import { Grain, Notes } from "./Grain";
import { links as linksOf, rowAvailability } from "./queries";
import { RowLinks } from "./RowLinks";
import { RowTable } from "./RowTable";
import { datasetOf, type JobPass, jobsPassed, type RowStep } from "./steps";
import { TraceFurther } from "./TraceFurther";

export interface StepTreeProps {
  /** The dataset that was made of these. */
  below: QualifiedName;
  known: readonly QualifiedName[];
  passed: readonly JobPass[];
  /** Whether a step on the way was not exact. */
  blurred: boolean;
  open: readonly string[];
  toggle: (place: string) => void;
}

/** The sources of one dataset's rows, each with its own beneath it. */
export function SourceSteps({ steps, ...tree }: StepTreeProps & { steps: readonly RowStep[] }) {
  if (steps.length === 0) return <p className="dim">No source rows.</p>;
  return (
    <ol className="plain steps">
      {steps.map((step) => (
        <li key={step.place}>
          <SourceStep step={step} {...tree} />
        </li>
      ))}
    </ol>
  );
}

function SourceStep({ step, below, known, passed, blurred, open, toggle }: StepTreeProps & { step: RowStep }) {
  const dataset = datasetOf(step.dataset, known);
  const links = useQuery(linksOf(below)).data ?? [];
  const can = useQuery(rowAvailability(dataset)).data;
  const way = jobsPassed(passed, step.passed);
  const columns = columnsOf(step.rows, between(links, dataset, below));
  const tree = { known, passed: way, blurred: blurred || step.grain !== "exact", open, toggle };
  return (
    <section className="column tight step" aria-label={`Rows of ${dataset.name.slice(-200)}`}>
      <JobsPassed way={way} />
      <header className="row wrap">
        <h3>
          <Name of={dataset.name} title={step.dataset} />
        </h3>
        <span>{countOf(step.count, "row")}</span>
        <Grain of={step.grain} blurred={blurred} />
        <span className="row links">
          <Link href={to.explore(dataset)}>Explore</Link>
          <Link href={to.rows(dataset)}>Rows</Link>
        </span>
      </header>
      <RowTable
        rows={step.rows}
        count={step.count}
        columns={columns}
        identity={can?.identity}
        label={`Rows of ${dataset.name.slice(-200)}`}
        {...(can && { end: (row) => <RowLinks row={row} dataset={dataset} can={can} /> })}
      />
      <Notes of={step.notes} />
      {step.ends !== null && <Notes of={[`The trace ends here: ${step.ends}`]} />}
      {step.next !== null ? (
        <SourceSteps steps={step.next} below={dataset} {...tree} />
      ) : (
        <TraceFurther step={step} dataset={dataset} can={can} tree={{ below, ...tree }} />
      )}
    </section>
  );
}

/** The jobs between the row that was asked about and these. */
export function JobsPassed({ way }: { way: readonly JobPass[] }) {
  if (way.length === 0) return null;
  return (
    <nav aria-label="Jobs passed" className="jobs-passed">
      <ol className="plain row wrap">
        {way.map((pass) => (
          <li key={pass.run}>
            <Link href={to.run(pass.run)} title={`Run ${pass.run}, completed ${pass.completed}`}>
              {fitName(pass.job, 80)}
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}
