import type { Schemas } from "../api/client";
import { Copy } from "../parts/Copy";
import { Name } from "../parts/Name";
import { members, text } from "./facets";

/** The code of the job as recorded: text, location, commit. */
export function JobCode({ detail }: { detail: Schemas["RunDetail"] }) {
  const facets = detail.job_facets;
  const sql = text(members(facets.sql).query);
  const source = text(members(facets.sourceCode).sourceCode);
  const place = members(facets.sourceCodeLocation);
  const code = members(members(detail.run_facets["cdme.runManifest"]).code);
  const engine = members(detail.run_facets.processing_engine);
  const commit = text(code.commit) ?? text(place.version);
  const path = text(place.path) ?? text(place.url) ?? text(code.script);
  const facts: [string, string | null][] = [
    ["File", path],
    ["Repository", text(place.repoUrl)],
    ["Commit", commit === null ? null : `${commit}${code.dirty === true ? ", with uncommitted changes" : ""}`],
    ["Branch", text(place.branch)],
    ["Ran on", text(engine.name) && `${text(engine.name)} ${text(engine.version) ?? ""}`],
    ["Description", text(members(facets.documentation).description)],
  ];
  const presentFacts = facts.filter((fact): fact is [string, string] => fact[1] !== null);
  if (presentFacts.length === 0 && sql === null && source === null) return null;
  return (
    <section className="card column" aria-label="Code">
      <h2>Code</h2>
      <dl className="facts-list">
        {presentFacts.map(([word, value]) => (
          <div key={word} className="contents">
            <dt>{word}</dt>
            <dd>
              <Name of={value} />
            </dd>
          </div>
        ))}
      </dl>
      {sql !== null && <Text word="SQL" of={sql} />}
      {source !== null && <Text word="Source" of={source} />}
    </section>
  );
}

function Text({ word, of }: { word: string; of: string }) {
  return (
    <div className="column">
      <div className="row apart">
        <h3>{word}</h3>
        <Copy text={of} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <pre className="block" tabIndex={0}>
        {of}
      </pre>
    </div>
  );
}
