import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { to } from "../app/places";
import { Empty } from "../parts/Answer";
import { counted } from "../parts/words";
import { type Askable, links as linksOf, relatives, type Traced as TracedAnswer } from "./ask";
import { columnsOf, ownNames } from "./columns";
import { naming } from "./conditions";
import { Notes } from "./Grain";
import type { Question } from "./place";
import { RowCard } from "./RowCard";
import type { Go } from "./Rows";
import { Steps } from "./Steps";
import { stepsBack } from "./steps";
import { Table } from "./Table";
import type { Row } from "./values";

/** Where rows came from: the row, and under it its sources, step by step. */
export function Traced({
  answer,
  question,
  can,
  go,
}: {
  answer: TracedAnswer;
  question: Question;
  can: Askable;
  go: Go;
}) {
  const { dataset } = question;
  const links = useQuery(linksOf(dataset)).data ?? [];
  const known = useQuery(relatives(dataset, "upstream")).data ?? [];
  const [only] = answer.rows;
  const one = answer.count === 1 && only !== undefined;
  const everything = question.condition.trim() === "" && !one;
  if (answer.count === 0) return <Nothing question={question} />;
  return (
    <div className="column answer">
      {one ? (
        <RowCard row={only} columns={can.columns} links={links} label="The row" />
      ) : (
        <section className="card column" aria-label="Rows to pick from">
          <h2>{everything ? `Pick one of ${counted(answer.count, "row")}` : counted(answer.count, "row")}</h2>
          <Table
            rows={answer.rows}
            count={answer.count}
            columns={columnsOf(answer.rows, [])}
            label="Rows to pick from"
            end={(row) => <Pick row={row} question={question} can={can} />}
          />
        </section>
      )}
      <Notes of={answer.notes} />
      {!everything && (
        <section className="column" aria-label="Where it came from">
          <h2>{one ? "Made of" : `All ${counted(answer.count, "row")} together were made of`}</h2>
          <Steps
            steps={stepsBack(answer)}
            below={dataset}
            known={[...known, ...can.sources]}
            passed={[]}
            blurred={false}
            open={question.open}
            toggle={(place) => go({ ...question, open: toggled(question.open, place) }, { replace: true })}
          />
        </section>
      )}
    </div>
  );
}

/** The same question of one row, by what it is known by; where nothing is, by all its values. */
function Pick({ row, question, can }: { row: Row; question: Question; can: Askable }) {
  const by = can.identity.length > 0 ? can.identity : ownNames([row]);
  const named = naming([row], by);
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

function Nothing({ question }: { question: Question }) {
  return (
    <Empty>
      No row is so. <Link href={to.rows(question.dataset, { ask: "why-not" })}>Ask why one is missing</Link>
    </Empty>
  );
}

function toggled(open: readonly string[], place: string): string[] {
  // What lay behind a place that is closed goes with it.
  if (open.includes(place)) return open.filter((each) => each !== place && !each.startsWith(`${place}.`));
  return [...open, place];
}
