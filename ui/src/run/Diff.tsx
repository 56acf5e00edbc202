import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { answer, client, type Schemas } from "../api/client";
import { sameName, to } from "../app/places";
import { Answer, Empty } from "../parts/Answer";
import { Icon, type IconName } from "../parts/icons";
import { Name } from "../parts/Name";
import { counted } from "../parts/words";
import { Both } from "./Both";
import { type Kind, summary, type Told, toldOf } from "./changes";
import { Long } from "./Long";
import "./run.css";

const MOST = 100;
const SIGNS: Record<Kind, [tone: string, icon: IconName]> = {
  added: ["good", "plus"],
  removed: ["bad", "minus"],
  changed: ["warn", "changed"],
};

/** What the second run did otherwise than the first. */
export default function Diff() {
  const [words] = useSearchParams();
  const [before, after] = [words.get("before"), words.get("after")];
  if (!before || !after) {
    return (
      <div className="sheet run-view">
        <h1>Two runs are compared</h1>
        <Empty>
          <Link href={to.runs()}>Pick two runs of a job.</Link>
        </Empty>
      </div>
    );
  }
  return <Compared key={`${before} ${after}`} before={before} after={after} />;
}

function Compared({ before, after }: { before: string; after: string }) {
  const asked = useQuery({
    queryKey: ["lineage", "diff", before, after],
    queryFn: () =>
      answer(client.GET("/api/v1/runs/{run_a}/diff/{run_b}", { params: { path: { run_a: before, run_b: after } } })),
  });
  return (
    <div className="sheet run-view">
      <Answer of={asked} lines={8}>
        {(found) => <Found of={found} />}
      </Answer>
    </div>
  );
}

function Found({ of }: { of: Schemas["RunDiff"] }) {
  const parts: [title: string, changes: Told[]][] = [
    ["Inputs", of.inputs.map(toldOf)],
    ["Outputs", of.outputs.map(toldOf)],
    ["Schema", of.schema.map(toldOf)],
    ["Column edges", of.column_edges.map(toldOf)],
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
              <span className="dim">and another job,</span>
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
              The same: inputs, outputs, schemas and column edges
            </>
          ) : (
            `${counted(all.length, "difference")}: ${summary(all)}`
          )}
        </h1>
        <div>
          <Link href={to.diff(of.run_b.run_id, of.run_a.run_id)}>The other way round</Link>
        </div>
      </header>
      <Both before={of.run_a.run_id} after={of.run_b.run_id} />
      {parts.map(([title, changes]) => (
        <Part key={title} title={title} changes={changes} />
      ))}
    </>
  );
}

function Part({ title, changes }: { title: string; changes: Told[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? changes : changes.slice(0, MOST);
  return (
    <section className="card column" aria-label={title}>
      <h2>
        {title} <span className="dim">{changes.length === 0 ? "the same" : summary(changes)}</span>
      </h2>
      {shown.length > 0 && (
        <ul className="plain lines">
          {shown.map((one) => (
            <li key={one.name} className="row start">
              <Sign of={one.kind} />
              <div className="grow">
                <div className="mono">
                  <Long of={one.name} />
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
            Show {counted(changes.length - shown.length, "more change")}
          </button>
        </div>
      )}
    </section>
  );
}

function Sign({ of }: { of: Kind }) {
  const [tone, icon] = SIGNS[of];
  return (
    <span className={`state change-sign ${tone}`}>
      <Icon name={icon} />
      {of}
    </span>
  );
}

function Values({ of }: { of: Told }) {
  if (of.kind !== "changed")
    return (
      <div className="dim">
        <Long of={of.after ?? of.before ?? ""} />
      </div>
    );
  return (
    <div className="breaks">
      <span className="was">
        <Long of={of.before ?? "nothing more"} />
      </span>{" "}
      → <Long of={of.after ?? "nothing more"} />
    </div>
  );
}
