import { Icon } from "../parts/icons";
import type { RowAvailability } from "./queries";
import type { QuestionKind } from "./question";

export interface QuestionOption {
  ask: QuestionKind;
  possible: boolean;
  /** How it is answered, or why it cannot be. */
  how: string;
}

const TITLES: Record<QuestionKind, string> = {
  trace: "Trace back: where did a row come from?",
  forward: "Trace forward: what did a row become?",
  "why-not": "Why not: why is a row missing?",
};

/** The kinds of row queries and whether the dataset supports them. */
export function questionOptions(can: RowAvailability): QuestionOption[] {
  const { instant, spark, forward } = can;
  const atOnce = `Immediately by ${columnNames(can.identity)}`;
  const further = spark.possible ? "; on Spark by any column" : "";
  return [
    instant.possible
      ? { ask: "trace", possible: true, how: `${atOnce}${further}` }
      : { ask: "trace", possible: spark.possible, how: spark.possible ? "On Spark" : unavailableReason(spark) },
    { ask: "forward", possible: forward.possible, how: forward.possible ? "On Spark" : unavailableReason(forward) },
    { ask: "why-not", possible: spark.possible, how: spark.possible ? "On Spark" : unavailableReason(spark) },
  ];
}

export function QuestionPicker({
  ways,
  chosen,
  choose,
}: {
  ways: QuestionOption[];
  chosen: QuestionKind;
  choose: (ask: QuestionKind) => void;
}) {
  return (
    <fieldset className="choice">
      <legend className="sr-only">Kind of query</legend>
      {ways.map((way) => (
        <label key={way.ask} data-impossible={!way.possible || undefined}>
          <input
            type="radio"
            name="ask"
            value={way.ask}
            checked={way.ask === chosen}
            disabled={!way.possible && way.ask !== chosen}
            aria-label={TITLES[way.ask]}
            aria-describedby={`how-${way.ask}`}
            onChange={() => choose(way.ask)}
          />
          <span className="title">{TITLES[way.ask]}</span>
          <span className="explanation" id={`how-${way.ask}`}>
            {!way.possible && <Icon name="lock" size={12} />}
            <span>{way.possible ? way.how : `Not available. ${way.how}`}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function columnNames(columns: readonly string[]): string {
  return columns.length <= 4 ? columns.join(", ") : `${columns.slice(0, 3).join(", ")} and ${columns.length - 3} more`;
}

function unavailableReason(way: { reason: string | null }): string {
  return way.reason ?? "No row data was stored for this dataset.";
}
