import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { to } from "../app/addresses";
import { countOf } from "../parts/format";
import { Empty } from "../parts/QueryResult";
import { columnsOf, ownNames } from "./columns";
import { conditionFor } from "./conditions";
import { Notes, Verified } from "./Grain";
import { links as linksOf, type RowAvailability, relatedDatasets, type TracedRows as TracedAnswer } from "./queries";
import type { Question } from "./question";
import { RowCard } from "./RowCard";
import type { Go } from "./Rows";
import { RowTable } from "./RowTable";
import { SourceSteps } from "./SourceSteps";
import { stepsBack } from "./steps";
import type { Row } from "./values";

/** Where rows came from: the row, and under it its sources, step by step. */
export function TraceResult({
  answer,
  question,
  can,
  go,
}: {
  answer: TracedAnswer;
  question: Question;
  can: RowAvailability;
  go: Go;
}) {
  const { dataset } = question;
  const links = useQuery(linksOf(dataset)).data ?? [];
  const known = useQuery(relatedDatasets(dataset, "upstream")).data ?? [];
  const [only] = answer.rows;
  const one = answer.count === 1 && only !== undefined;
  const everything = question.condition.trim() === "" && !one;
  if (answer.count === 0) return <NoMatch question={question} />;
  return (
    <div className="column answer">
      {one ? (
        <RowCard row={only} columns={can.columns} links={links} label="The row" />
      ) : (
        <section className="card column" aria-label="Rows">
          <h2>{everything ? `Select one of ${countOf(answer.count, "row")}` : countOf(answer.count, "row")}</h2>
          <RowTable
            rows={answer.rows}
            count={answer.count}
            columns={columnsOf(answer.rows, [])}
            label="Rows"
            end={(row) => <TraceLink row={row} question={question} can={can} />}
          />
        </section>
      )}
      <Notes of={answer.notes} />
      <Verified of={answer.verified} />
      {!everything && (
        <section className="column" aria-label="Source rows">
          <h2>{one ? "Source rows of this row" : `Source rows of all ${countOf(answer.count, "row")}`}</h2>
          <SourceSteps
            steps={stepsBack(answer)}
            below={dataset}
            known={[...known, ...can.sources]}
            passed={[]}
            blurred={false}
            open={question.open}
            toggle={(place) => go({ ...question, open: toggleOpen(question.open, place) }, { replace: true })}
          />
        </section>
      )}
    </div>
  );
}

/** The same question of one row, by what it is known by; where nothing is, by all its values. */
function TraceLink({ row, question, can }: { row: Row; question: Question; can: RowAvailability }) {
  const by = can.identity.length > 0 ? can.identity : ownNames([row]);
  const named = conditionFor([row], by);
  if (named === null) return null;
  return (
    <Link
      href={to.rows(question.dataset, { ask: "trace", condition: named.condition })}
      aria-label={`Trace the row: ${named.condition.slice(0, 200)}`}
    >
      Trace
    </Link>
  );
}

function NoMatch({ question }: { question: Question }) {
  return (
    <Empty>
      No row matches this condition.{" "}
      <Link href={to.rows(question.dataset, { ask: "why-not" })}>Ask why a row is missing</Link>
    </Empty>
  );
}

function toggleOpen(open: readonly string[], place: string): string[] {
  // What lay behind a place that is closed goes with it.
  if (open.includes(place)) return open.filter((one) => one !== place && !one.startsWith(`${place}.`));
  return [...open, place];
}
