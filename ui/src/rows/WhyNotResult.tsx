import { useState } from "react";
import { Link } from "wouter";
import { to } from "../app/addresses";
import { Badge } from "../parts/Badge";
import { countOf } from "../parts/format";
import { Icon } from "../parts/icons";
import { columnsOf } from "./columns";
import { Notes } from "./Grain";
import type { Question } from "./question";
import { RowCard } from "./RowCard";
import { RowTable } from "./RowTable";
import { displayValue, literal } from "./values";
import {
  type Culprit,
  isQuiet,
  type OperatorPath,
  type OperatorState,
  operatorPaths,
  type WhyNotAnswer,
  withRowValues,
} from "./why";

/** Why rows are missing: their way through the query, to the operator that stopped them. */
export function WhyNotResult({ answer, question }: { answer: WhyNotAnswer; question: Question }) {
  const ways = operatorPaths(answer);
  const [only] = answer.rows;
  return (
    <div className="column answer">
      <section
        className={`verdict ${answer.reached ? "good" : answer.exists && answer.reached === false ? "bad" : "warn"}`}
        aria-label="Verdict"
      >
        {answer.reached ? (
          <Badge tone="good" icon="check" word="Found" />
        ) : answer.reached === null ? (
          <Badge tone="warn" icon="unknown" word="Not known" />
        ) : answer.exists ? (
          <Badge tone="bad" icon="stop" word="Dropped" />
        ) : (
          <Badge tone="warn" icon="alert" word="No such row" />
        )}
        <p className="text">{answer.verdict}</p>
        {answer.reached && (
          <Link href={to.rows(question.dataset, { ask: "trace" })}>Select it among the rows of the dataset</Link>
        )}
      </section>
      {answer.count === 1 && only !== undefined ? (
        <RowCard row={only} columns={[]} links={[]} label="The source row" />
      ) : (
        answer.count > 0 && (
          <section className="card column" aria-label="The source rows">
            <h2>{countOf(answer.count, "source row")}</h2>
            <RowTable
              rows={answer.rows}
              count={answer.count}
              columns={columnsOf(answer.rows, [])}
              label="The source rows"
            />
          </section>
        )
      )}
      {answer.exists &&
        ways.map((way) => <PathOfRows key={way.occurrence} way={way} one={ways.length === 1} count={answer.count} />)}
      <Notes of={answer.notes} />
    </div>
  );
}

function PathOfRows({ way, one, count }: { way: OperatorPath; one: boolean; count: number }) {
  const [all, setAll] = useState(false);
  const stations = way.operators.filter((station) => all || !isQuiet(station));
  const quiet = way.operators.filter(isQuiet).length;
  const title = count === 1 ? "Path of the row" : "Path of the rows";
  return (
    <section className="column" aria-label={one ? title : `${title}, occurrence ${way.occurrence + 1}`}>
      <h2>{one ? title : `${title} at the ${ordinal(way.occurrence + 1)} read of the source`}</h2>
      <ol className="plain operator-path">
        {stations.map((station, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: operators have no name of their own, and stay in place
          <li key={place} data-state={station.state}>
            <OperatorStep station={station} />
          </li>
        ))}
      </ol>
      {quiet > 0 && (
        <label className="row dim">
          <input type="checkbox" checked={all} onChange={() => setAll(!all)} />
          Show the {countOf(quiet, "operator")} that keep every row
        </label>
      )}
      {way.further.map((culprit) => (
        <p key={culprit.text} className="text">
          <strong>Without that operator:</strong> <code>{culprit.text}</code> {culprit.explanation}.
        </p>
      ))}
    </section>
  );
}

const SIGNS = {
  passed: ["check", "passed"],
  stopped: ["stop", "dropped here"],
  beyond: ["minus", "not reached"],
  unknown: ["unknown", "unknown"],
} as const;

function OperatorStep({ station }: { station: OperatorState }) {
  const [icon, word] = SIGNS[station.state];
  return (
    <>
      <span className="sign" title={word}>
        <Icon name={icon} size={12} />
        <span className="sr-only">{word}</span>
      </span>
      <div className="column tight grow">
        <code className="sql">{station.text}</code>
        {station.state === "stopped" && (
          <div className="stop" role="note" aria-label="Operator that dropped it">
            <Badge tone="bad" icon="stop" word="Dropped here" />
            {station.culprit !== null && <Reason culprit={station.culprit} />}
          </div>
        )}
      </div>
      <span className="left">{station.state === "beyond" ? "–" : rowsLeftText(station.rows)}</span>
    </>
  );
}

/** Its condition with the row's values put in; where it is no condition, what it found. */
function Reason({ culprit }: { culprit: Culprit }) {
  const put = withRowValues(culprit);
  return (
    <>
      {put !== null && put.values.length > 0 && (
        <p className="mono condition-with-values">
          {put.condition} <span className="dim">with</span>{" "}
          {put.values.map(([name, value]) => `${name} = ${literal(value) ?? displayValue(value)}`).join(", ")}{" "}
          <span className="dim">→</span> <strong>{put.verdict}</strong>
        </p>
      )}
      {(put === null || put.values.length === 0 || culprit.before > 1) && <p className="text">{culprit.explanation}</p>}
    </>
  );
}

function rowsLeftText(rows: number | null): string {
  return rows === null ? "unknown" : `${countOf(rows, "row")} left`;
}

function ordinal(number: number): string {
  return ["first", "second", "third", "fourth"][number - 1] ?? `${number}th`;
}
