import { type FormEvent, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { address, to } from "../app/addresses";
import { exactTime } from "../parts/format";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { type Filter, SPANS, STATES, sinceMoment } from "./filters";

/** Narrows the list; each choice is a step that the back button takes back. */
export function Filters({ of }: { of: Filter }) {
  const [, go] = useLocation();
  const change = (part: Partial<Filter>) => {
    const { datasetNamespace, ...rest } = { ...of, ...part };
    go(address("/runs", { ...rest, dataset_namespace: datasetNamespace }));
  };
  const some = Object.values(of).some((value) => value !== null);
  const known = of.since === null || SPANS.some(([span]) => span === of.since);
  return (
    <search aria-label="Runs">
      <div className="row wrap filters">
        <label className="field">
          State
          <select
            value={of.state ?? ""}
            onChange={(event) => change({ state: STATES.find(([state]) => state === event.target.value)?.[0] ?? null })}
          >
            <option value="">any</option>
            {STATES.map(([state, word]) => (
              <option key={state} value={state}>
                {word}
              </option>
            ))}
          </select>
        </label>
        <TextFilter word="Job" value={of.job} change={(job) => change({ job })} />
        <TextFilter word="Namespace" value={of.namespace} change={(namespace) => change({ namespace })} />
        <label className="field">
          Since
          <select value={of.since ?? ""} onChange={(event) => change({ since: event.target.value || null })}>
            <option value="">any time</option>
            {SPANS.map(([span, word]) => (
              <option key={span} value={span}>
                {word}
              </option>
            ))}
            {!known && of.since && <option value={of.since}>{exactTime(sinceMoment(of.since, 0) ?? of.since)}</option>}
          </select>
        </label>
        {some && (
          <Link href={to.runs()} className="clear">
            Show all runs
          </Link>
        )}
      </div>
      {of.dataset !== null && (
        <div className="row">
          Reads or writes <Name of={of.dataset} />
          <button
            type="button"
            className="quiet"
            aria-label="Clear the dataset filter"
            onClick={() => change({ dataset: null, datasetNamespace: null })}
          >
            <Icon name="cross" />
          </button>
        </div>
      )}
    </search>
  );
}

/** Applies on Enter or when the input loses the focus. */
function TextFilter({
  word,
  value,
  change,
}: {
  word: string;
  value: string | null;
  change: (value: string | null) => void;
}) {
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const take = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() !== (value ?? "")) change(text.trim() || null);
  };
  return (
    <form onSubmit={take}>
      <label className="field">
        {word}
        <input
          className="mono"
          value={text}
          maxLength={10_000}
          placeholder="full name"
          onChange={(event) => setText(event.target.value)}
          onBlur={() => take()}
        />
      </label>
    </form>
  );
}
