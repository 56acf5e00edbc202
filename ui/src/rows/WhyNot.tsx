import { useState } from "react";
import { Link } from "wouter";
import { to } from "../app/places";
import { Icon } from "../parts/icons";
import { Mark } from "../parts/State";
import { counted } from "../parts/words";
import { columnsOf } from "./columns";
import { Notes } from "./Grain";
import type { Question } from "./place";
import { RowCard } from "./RowCard";
import { Table } from "./Table";
import { literal, shown } from "./values";
import { type Culprit, isQuiet, putIn, type Station, type Way, type WhyNotAnswer, waysOf } from "./why";

/** Why rows are missing: their way through the query, to the operator that stopped them. */
export function WhyNot({ answer, question }: { answer: WhyNotAnswer; question: Question }) {
  const ways = waysOf(answer);
  const [only] = answer.rows;
  return (
    <div className="column answer">
      <section
        className={`verdict ${answer.reached ? "good" : answer.exists ? "bad" : "warn"}`}
        aria-label="The verdict"
      >
        {answer.reached ? (
          <Mark tone="good" icon="check" word="It is there" />
        ) : answer.exists ? (
          <Mark tone="bad" icon="stop" word="Stopped" />
        ) : (
          <Mark tone="warn" icon="alert" word="No such row" />
        )}
        <p className="text">{answer.verdict}</p>
        {answer.reached && (
          <Link href={to.rows(question.dataset, { ask: "trace" })}>Pick it among the rows of the dataset</Link>
        )}
      </section>
      {answer.count === 1 && only !== undefined ? (
        <RowCard row={only} columns={[]} links={[]} label="The row asked about" />
      ) : (
        answer.count > 0 && (
          <section className="card column" aria-label="The rows asked about">
            <h2>{counted(answer.count, "row")} asked about</h2>
            <Table
              rows={answer.rows}
              count={answer.count}
              columns={columnsOf(answer.rows, [])}
              label="The rows asked about"
            />
          </section>
        )
      )}
      {answer.exists &&
        ways.map((way) => <WayThrough key={way.occurrence} way={way} one={ways.length === 1} count={answer.count} />)}
      <Notes of={answer.notes} />
    </div>
  );
}

function WayThrough({ way, one, count }: { way: Way; one: boolean; count: number }) {
  const [all, setAll] = useState(false);
  const stations = way.stations.filter((station) => all || !isQuiet(station));
  const quiet = way.stations.filter(isQuiet).length;
  const title = count === 1 ? "The way of the row" : "The way of the rows";
  return (
    <section className="column" aria-label={one ? title : `${title}, occurrence ${way.occurrence + 1}`}>
      <h2>{one ? title : `${title} where the source is read the ${ordinal(way.occurrence + 1)} time`}</h2>
      <ol className="plain way">
        {stations.map((station, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: operators have no name of their own, and stay in place
          <li key={place} data-state={station.state}>
            <At station={station} />
          </li>
        ))}
      </ol>
      {quiet > 0 && (
        <label className="row dim">
          <input type="checkbox" checked={all} onChange={() => setAll(!all)} />
          Also the {counted(quiet, "operator")} that let every row through
        </label>
      )}
      {way.further.map((culprit) => (
        <p key={culprit.text} className="text">
          <strong>Had that let it through:</strong> <code>{culprit.text}</code> {culprit.explanation}.
        </p>
      ))}
    </section>
  );
}

const SIGNS = {
  passed: ["check", "passed"],
  stopped: ["stop", "stopped here"],
  beyond: ["minus", "not reached"],
  unknown: ["unknown", "cannot be told"],
} as const;

function At({ station }: { station: Station }) {
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
          <div className="stop" role="note" aria-label="What stopped it">
            <Mark tone="bad" icon="stop" word="Stopped here" />
            {station.culprit !== null && <Reason culprit={station.culprit} />}
          </div>
        )}
      </div>
      <span className="left">{station.state === "beyond" ? "–" : leftOf(station.rows)}</span>
    </>
  );
}

/** Its condition with the row's values put in; where it is no condition, what it found. */
function Reason({ culprit }: { culprit: Culprit }) {
  const put = putIn(culprit);
  return (
    <>
      {put !== null && put.values.length > 0 && (
        <p className="mono put-in">
          {put.condition} <span className="dim">with</span>{" "}
          {put.values.map(([name, value]) => `${name} = ${literal(value) ?? shown(value)}`).join(", ")}{" "}
          <span className="dim">→</span> <strong>{put.verdict}</strong>
        </p>
      )}
      {(put === null || put.values.length === 0 || culprit.before > 1) && <p className="text">{culprit.explanation}</p>}
    </>
  );
}

function leftOf(rows: number | null): string {
  return rows === null ? "? rows left" : `${counted(rows, "row")} left`;
}

function ordinal(number: number): string {
  return ["first", "second", "third", "fourth"][number - 1] ?? `${number}th`;
}
