import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useId, useState } from "react";
import { nameKey, type QualifiedName } from "../app/addresses";
import { fitName } from "../parts/format";
import { isInstant, type RowAvailability, relatedDatasets, rowAvailability } from "./queries";
import type { Question } from "./question";

/** The condition on the rows, in SQL. Submitting is explicit, because it may start Spark. */
export function Condition({
  question,
  can,
  admin,
  refused,
  busy,
  put,
}: {
  question: Question;
  can: RowAvailability;
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
  // A question from a link or the back button replaces what was typed.
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
    <form className="card column row-query" onSubmit={submit} aria-label="Row query">
      <div className="row wrap end">
        {missing && <SourceChoice sources={sources} chosen={source} choose={setSource} />}
        <label className="field grow">
          {missing ? "Source rows where" : "Rows where"}
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
          {spark ? "Run on Spark" : "Trace"}
        </button>
      </div>
      <div id={`${id}-refused`} role="alert">
        {refused !== null && <div className="error-message">{refused}</div>}
      </div>
      <div className="row wrap apart dim">
        <span id={`${id}-help`}>{missing ? <SourceColumns source={source} /> : <ConditionColumns can={can} />}</span>
        <span id={`${id}-how`}>
          {!allowed
            ? "This query runs on Spark, which needs a key with the scope admin."
            : spark
              ? "This query starts Spark, which takes about a minute."
              : "The pair tables of the run answer this query immediately."}
        </span>
      </div>
    </form>
  );
}

function ConditionColumns({ can }: { can: RowAvailability }) {
  const others = can.columns.map((column) => column.name).filter((name) => !can.identity.includes(name));
  if (can.identity.length === 0 || others.length === 0)
    return <>Columns: {namesList(can.columns.map((candidate) => candidate.name))}</>;
  return (
    <>
      Columns: {namesList(can.identity)}; on Spark also {namesList(others)}
    </>
  );
}

function SourceColumns({ source }: { source: Question["source"] }) {
  const named: QualifiedName = { namespace: source?.namespace ?? "", name: source?.name ?? "" };
  const availability = useQuery({ ...rowAvailability(named), enabled: source !== null && source.namespace !== null });
  const names = availability.data?.columns.map((column) => column.name) ?? [];
  return <>{names.length > 0 ? `Columns: ${namesList(names)}` : "The rows that you expected in the dataset"}</>;
}

/** The sources that the run recorded, or else the upstream datasets. */
function useSources(can: RowAvailability, on: boolean): readonly QualifiedName[] {
  const above = useQuery({ ...relatedDatasets(can.dataset, "upstream"), enabled: on && can.sources.length === 0 });
  return can.sources.length > 0 ? can.sources : (above.data ?? []);
}

function SourceChoice({
  sources,
  chosen,
  choose,
}: {
  sources: readonly QualifiedName[];
  chosen: Question["source"];
  choose: (source: Question["source"]) => void;
}) {
  const listed = sources.some((candidate) => same(candidate, chosen));
  return (
    <label className="field">
      Source
      <select
        className="mono"
        value={chosen === null ? "" : chosen.namespace === null ? chosen.name : nameKey(chosen as QualifiedName)}
        onChange={(event) => choose(sources.find((candidate) => nameKey(candidate) === event.target.value) ?? chosen)}
      >
        {chosen === null && <option value="">no source recorded</option>}
        {chosen !== null && !listed && (
          <option value={chosen.namespace === null ? chosen.name : nameKey(chosen as QualifiedName)}>
            {short(chosen.name)}
          </option>
        )}
        {sources.map((candidate) => (
          <option key={nameKey(candidate)} value={nameKey(candidate)}>
            {short(candidate.name)}
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

function chosenSource(question: Question, sources: readonly QualifiedName[]): Question["source"] {
  return sources.find((candidate) => same(candidate, question.source)) ?? question.source ?? sources[0] ?? null;
}

/** Without a namespace, the end of the full name must match. */
function same(known: QualifiedName, availability: Question["source"]): boolean {
  if (availability === null) return false;
  return availability.namespace === null
    ? `${known.namespace}/${known.name}`.endsWith(availability.name)
    : known.namespace === availability.namespace && known.name === availability.name;
}

function example(can: RowAvailability): string {
  const column = can.identity[0] ?? can.columns[0]?.name;
  return column ? `${column} = …` : "";
}

function short(name: string): string {
  return fitName(name, 60);
}

function namesList(names: readonly string[], most = 12): string {
  return names.length <= most ? names.join(", ") : `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}
