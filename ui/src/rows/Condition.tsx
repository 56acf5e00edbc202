import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useId, useState } from "react";
import { keyOf, type Named } from "../app/places";
import { type Askable, askable, isInstant, relatives } from "./ask";
import type { Question } from "./place";

/** Which rows are meant, in SQL. Asking is the reader's own act: it may start Spark. */
export function Condition({
  question,
  can,
  admin,
  refused,
  busy,
  put,
}: {
  question: Question;
  can: Askable;
  admin: boolean;
  refused: string | null;
  busy: boolean;
  put: (question: Question) => void;
}) {
  const [condition, setCondition] = useState(question.condition);
  const sources = useSources(can, question.ask === "why-not");
  const [picked, setSource] = useState<Question["source"]>(null);
  const source = picked ?? chosenSource(question, sources);
  const [depth, setDepth] = useState(question.depth);
  // Another question, by a link or the back button, is shown as it was asked.
  const { name: sourceName } = question.source ?? {};
  // biome-ignore lint/correctness/useExhaustiveDependencies: the question's own source
  useEffect(() => {
    setCondition(question.condition);
    setSource(null);
    setDepth(question.depth);
  }, [question.ask, question.condition, question.depth, sourceName]);
  const id = useId();
  const missing = question.ask === "why-not";
  const instant = question.ask === "trace" && isInstant(can, condition);
  const spark = !instant;
  const allowed = instant || admin;
  const ready = allowed && !busy && (!missing || (condition.trim() !== "" && source !== null));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) put({ ...question, condition: condition.trim(), source: missing ? source : null, depth });
  };
  return (
    <form className="card column asking" onSubmit={submit} aria-label="The question">
      <div className="row wrap end">
        {missing && <SourceChoice sources={sources} chosen={source} choose={setSource} />}
        <label className="field grow">
          {missing ? "Its rows where" : "Rows where"}
          <input
            className="mono"
            value={condition}
            spellCheck={false}
            autoComplete="off"
            maxLength={10_000}
            placeholder={missing ? "id = 42" : example(can)}
            aria-invalid={refused !== null}
            aria-describedby={`${id}-help ${id}-refused`}
            onChange={(event) => setCondition(event.target.value)}
          />
        </label>
        {spark && !missing && <Depth depth={depth} choose={setDepth} />}
        <button type="submit" className="first" disabled={!ready} aria-describedby={`${id}-how`}>
          {spark ? "Ask Spark" : "Ask"}
        </button>
      </div>
      <div id={`${id}-refused`} role="alert">
        {refused !== null && <div className="trouble">{refused}</div>}
      </div>
      <div className="row wrap apart dim">
        <span id={`${id}-help`}>{missing ? <SourceColumns source={source} /> : <Columns can={can} />}</span>
        <span id={`${id}-how`}>
          {!allowed
            ? "This takes Spark, and only a key with the scope admin may start it."
            : spark
              ? "Spark is started for it, which takes a minute or so."
              : "Answered at once, by the pair tables that the run wrote."}
        </span>
      </div>
    </form>
  );
}

function Columns({ can }: { can: Askable }) {
  const others = can.columns.map((column) => column.name).filter((name) => !can.identity.includes(name));
  if (can.identity.length === 0 || others.length === 0)
    return <>Columns: {cut(can.columns.map((each) => each.name))}</>;
  return (
    <>
      Columns: {cut(can.identity)}; by Spark also {cut(others)}
    </>
  );
}

function SourceColumns({ source }: { source: Question["source"] }) {
  const named: Named = { namespace: source?.namespace ?? "", name: source?.name ?? "" };
  const told = useQuery({ ...askable(named), enabled: source !== null && source.namespace !== null });
  const names = told.data?.columns.map((column) => column.name) ?? [];
  return <>{names.length > 0 ? `Columns: ${cut(names)}` : "Which rows should be there and are not"}</>;
}

/** What the run is known to have read; where it did not tell, what lineage says. */
function useSources(can: Askable, on: boolean): readonly Named[] {
  const above = useQuery({ ...relatives(can.dataset, "upstream"), enabled: on && can.sources.length === 0 });
  return can.sources.length > 0 ? can.sources : (above.data ?? []);
}

function SourceChoice({
  sources,
  chosen,
  choose,
}: {
  sources: readonly Named[];
  chosen: Question["source"];
  choose: (source: Question["source"]) => void;
}) {
  const listed = sources.some((each) => same(each, chosen));
  return (
    <label className="field">
      Source
      <select
        className="mono"
        value={chosen === null ? "" : chosen.namespace === null ? chosen.name : keyOf(chosen as Named)}
        onChange={(event) => choose(sources.find((each) => keyOf(each) === event.target.value) ?? chosen)}
      >
        {chosen === null && <option value="">none was read</option>}
        {chosen !== null && !listed && (
          <option value={chosen.namespace === null ? chosen.name : keyOf(chosen as Named)}>{short(chosen.name)}</option>
        )}
        {sources.map((each) => (
          <option key={keyOf(each)} value={keyOf(each)}>
            {short(each.name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Depth({ depth, choose }: { depth: number | null; choose: (depth: number | null) => void }) {
  return (
    <label className="field">
      Through
      <select value={depth ?? ""} onChange={(event) => choose(event.target.value ? Number(event.target.value) : null)}>
        <option value="">all jobs</option>
        {[1, 2, 3, ...(depth !== null && depth > 3 ? [depth] : [])].map((jobs) => (
          <option key={jobs} value={jobs}>
            {jobs === 1 ? "1 job" : `${jobs} jobs`}
          </option>
        ))}
      </select>
    </label>
  );
}

function chosenSource(question: Question, sources: readonly Named[]): Question["source"] {
  return sources.find((each) => same(each, question.source)) ?? question.source ?? sources[0] ?? null;
}

/** The end of a name will do, where the namespace is not told. */
function same(known: Named, told: Question["source"]): boolean {
  if (told === null) return false;
  return told.namespace === null
    ? `${known.namespace}/${known.name}`.endsWith(told.name)
    : known.namespace === told.namespace && known.name === told.name;
}

function example(can: Askable): string {
  const column = can.identity[0] ?? can.columns[0]?.name;
  return column ? `${column} = …` : "";
}

function short(name: string): string {
  return name.length > 60 ? `…${name.slice(-59)}` : name;
}

function cut(names: readonly string[], most = 12): string {
  return names.length <= most ? names.join(", ") : `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}
