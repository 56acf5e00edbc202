import { Icon } from "../parts/icons";
import type { Askable } from "./ask";
import type { Ask } from "./place";

export interface Possible {
  ask: Ask;
  possible: boolean;
  /** How it is answered, or why it cannot be. */
  how: string;
}

const TITLES: Record<Ask, string> = {
  trace: "Where did it come from",
  forward: "What did it become",
  "why-not": "Why is it missing",
};

/** What can be asked of a dataset. */
export function waysOf(can: Askable): Possible[] {
  const { instant, spark, forward } = can;
  const atOnce = `At once by ${listed(can.identity)}`;
  const further = spark.possible ? "; by Spark on any column" : "";
  return [
    instant.possible
      ? { ask: "trace", possible: true, how: `${atOnce}${further}` }
      : { ask: "trace", possible: spark.possible, how: spark.possible ? "By Spark" : reason(spark) },
    { ask: "forward", possible: forward.possible, how: forward.possible ? "By Spark" : reason(forward) },
    { ask: "why-not", possible: spark.possible, how: spark.possible ? "By Spark" : reason(spark) },
  ];
}

export function Choice({ ways, chosen, choose }: { ways: Possible[]; chosen: Ask; choose: (ask: Ask) => void }) {
  return (
    <fieldset className="choice">
      <legend className="sr-only">What to ask of a row</legend>
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
          <span className="how" id={`how-${way.ask}`}>
            {!way.possible && <Icon name="lock" size={12} />}
            <span>{way.possible ? way.how : `It cannot be asked. ${way.how}`}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function listed(columns: readonly string[]): string {
  return columns.length <= 4 ? columns.join(", ") : `${columns.slice(0, 3).join(", ")} and ${columns.length - 3} more`;
}

function reason(way: { reason: string | null }): string {
  return way.reason ?? "Nothing was kept of its rows.";
}
