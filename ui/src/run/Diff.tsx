import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { client, responseData, type Schemas } from "../api/client";
import { sameName, to } from "../app/addresses";
import { countOf } from "../parts/format";
import { Icon, type IconName } from "../parts/icons";
import { Name } from "../parts/Name";
import { Empty, QueryResult } from "../parts/QueryResult";
import { type ChangeText, describeChange, type Kind, summary } from "./changes";
import { LongText } from "./LongText";
import { RunComparison } from "./RunComparison";
import "./run.css";

const MOST = 100;
const SIGNS: Record<Kind, [tone: string, icon: IconName]> = {
  added: ["good", "plus"],
  removed: ["bad", "minus"],
  changed: ["warn", "changed"],
};

/** What the second run did otherwise than the first. */
export default function Diff() {
  const [params] = useSearchParams();
  const [before, after] = [params.get("before"), params.get("after")];
  if (!before || !after) {
    return (
      <div className="sheet run-view">
        <h1>Compare two runs</h1>
        <Empty>
          <Link href={to.runs()}>Select two runs of a job.</Link>
        </Empty>
      </div>
    );
  }
  return <RunDiff key={`${before} ${after}`} before={before} after={after} />;
}

function RunDiff({ before, after }: { before: string; after: string }) {
  const diff = useQuery({
    queryKey: ["lineage", "diff", before, after],
    queryFn: () =>
      responseData(
        client.GET("/api/v1/runs/{run_a}/diff/{run_b}", { params: { path: { run_a: before, run_b: after } } }),
      ),
  });
  return (
    <div className="sheet run-view">
      <QueryResult of={diff} lines={8}>
        {(result) => <DiffView of={result} />}
      </QueryResult>
    </div>
  );
}

function DiffView({ of }: { of: Schemas["RunDiff"] }) {
  const parts: [title: string, changes: ChangeText[]][] = [
    ["Inputs", of.inputs.map(describeChange)],
    ["Outputs", of.outputs.map(describeChange)],
    ["Schema", of.schema.map(describeChange)],
    ["Column edges", of.column_edges.map(describeChange)],
  ];
  const all = parts.flatMap(([, changes]) => changes);
  return (
    <>
      <header className="column">
        <div className="row wrap">
          <Link href={to.job(of.run_a.job)} className="job-name">
            <Name of={of.run_a.job.name} />
          </Link>
          {!sameName(of.run_a.job, of.run_b.job) && (
            <>
              <span className="dim">and</span>
              <Link href={to.job(of.run_b.job)} className="job-name">
                <Name of={of.run_b.job.name} />
              </Link>
            </>
          )}
        </div>
        <h1 className="row">
          {all.length === 0 ? (
            <>
              <Icon name="check" size={18} />
              No differences in inputs, outputs, schemas and column edges
            </>
          ) : (
            `${countOf(all.length, "difference")}: ${summary(all)}`
          )}
        </h1>
        <div>
          <Link href={to.diff(of.run_b.run_id, of.run_a.run_id)}>Swap the runs</Link>
        </div>
      </header>
      <RunComparison before={of.run_a.run_id} after={of.run_b.run_id} />
      {parts.map(([title, changes]) => (
        <ChangeSection key={title} title={title} changes={changes} />
      ))}
    </>
  );
}

function ChangeSection({ title, changes }: { title: string; changes: ChangeText[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? changes : changes.slice(0, MOST);
  return (
    <section className="card column" aria-label={title}>
      <h2>
        {title} <span className="dim">{changes.length === 0 ? "no changes" : summary(changes)}</span>
      </h2>
      {shown.length > 0 && (
        <ul className="plain lines">
          {shown.map((one) => (
            <li key={one.name} className="row start">
              <ChangeSign of={one.kind} />
              <div className="grow">
                <div className="mono">
                  <LongText of={one.name} />
                </div>
                <Values of={one} />
              </div>
            </li>
          ))}
        </ul>
      )}
      {shown.length < changes.length && (
        <div>
          <button type="button" className="quiet" onClick={() => setAll(true)}>
            Show {countOf(changes.length - shown.length, "more change")}
          </button>
        </div>
      )}
    </section>
  );
}

function ChangeSign({ of }: { of: Kind }) {
  const [tone, icon] = SIGNS[of];
  return (
    <span className={`state change-sign ${tone}`}>
      <Icon name={icon} />
      {of}
    </span>
  );
}

function Values({ of }: { of: ChangeText }) {
  if (of.kind !== "changed")
    return (
      <div className="dim">
        <LongText of={of.after ?? of.before ?? ""} />
      </div>
    );
  return (
    <div className="breaks">
      <span className="old-value">
        <LongText of={of.before ?? "nothing"} />
      </span>{" "}
      → <LongText of={of.after ?? "nothing"} />
    </div>
  );
}
