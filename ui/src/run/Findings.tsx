import type { Schemas } from "../api/client";
import { Name } from "../parts/Name";
import { Mark } from "../parts/State";
import { counted } from "../parts/words";
import { Card, MOST, NOBODY, Plain } from "./Finding";
import { inWords, listed, members, text } from "./facets";
import { Grain } from "./Grain";
import { Long } from "./Long";
import { gapsOf } from "./nodes";

const TYPES = "cdme.typeUnification";
const GRAIN = "cdme.grainSafety";

/** What could not be known, what types may have lost, and which joins may have repeated rows. */
export function Findings({ detail }: { detail: Schemas["RunDetail"] }) {
  const { outputs, run_facets: facets } = detail;
  // Where nothing was written there was nothing to find.
  if (outputs.length === 0 && facets[TYPES] === undefined && facets[GRAIN] === undefined) return null;
  return (
    <div className="thirds">
      <Coverage outputs={detail.outputs} />
      <Types facet={detail.run_facets[TYPES]} />
      <Grain facet={detail.run_facets[GRAIN]} />
    </div>
  );
}

function Coverage({ outputs }: { outputs: Schemas["DatasetUse"][] }) {
  const gaps = gapsOf(outputs);
  if (gaps === null) return <Card title="What could not be known" verdict={NOBODY} />;
  if (gaps.length === 0) {
    return (
      <Card
        title="What could not be known"
        verdict={<Mark tone="good" icon="check" word="nothing: lineage leads through every step" />}
      />
    );
  }
  return (
    <Card
      title="What could not be known"
      verdict={
        <Mark
          tone="warn"
          icon="alert"
          word={counted(
            gaps.length,
            "step that lineage does not lead through",
            "steps that lineage does not lead through",
          )}
        />
      }
    >
      <ul className="plain lines">
        {gaps.slice(0, MOST).map((gap) => (
          <li key={JSON.stringify(gap)}>
            <div className="row">
              <Name of={gap.operator} />
            </div>
            <div>
              <Long of={gap.reason ?? "no reason was told"} />
            </div>
            {gap.columns.length > 0 && (
              <div className="dim">
                columns <Long of={gap.columns.join(", ")} />
              </div>
            )}
            <div className="dim row">
              before <Name of={gap.output} />
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Types({ facet }: { facet: unknown }) {
  const title = "Types";
  const told = members(facet);
  if (!Array.isArray(told.morphismReports)) return <Card title={title} verdict={NOBODY} />;
  const casts = listed(told.morphismReports);
  const lossy = casts.filter((one) => one.lossy === true);
  const nullable = listed(told.nullabilityChanges);
  const partly = told.complete === false;
  const verdict =
    lossy.length > 0 ? (
      <Mark tone="warn" icon="alert" word={`${counted(lossy.length, "cast")} may lose something`} />
    ) : partly ? (
      <Mark tone="warn" icon="unknown" word="no cast that loses anything is known; not all was seen" />
    ) : (
      <Mark tone="good" icon="check" word="no cast loses anything" />
    );
  return (
    <Card title={title} verdict={verdict}>
      {casts.length > 0 && (
        <ul className="plain lines">
          {[...lossy, ...casts.filter((one) => one.lossy !== true)].slice(0, MOST).map((one) => (
            <li key={JSON.stringify(one)}>
              <div className="row wrap">
                <Name of={text(one.column) ?? "a column"} />
                <span className="mono">
                  {inWords(one.from)} → {inWords(one.to)}
                </span>
                {one.lossy === true ? (
                  <Mark tone="warn" icon="alert" word="may lose" />
                ) : (
                  <span className="dim">loses nothing</span>
                )}
              </div>
              {text(one.expression) && (
                <code className="dim">
                  <Long of={text(one.expression) ?? ""} />
                </code>
              )}
            </li>
          ))}
        </ul>
      )}
      {nullable.length > 0 && (
        <details>
          <summary>
            {counted(
              nullable.length,
              "column that begins or ceases to be nullable",
              "columns that begin or cease to be nullable",
            )}
          </summary>
          <Plain of={nullable} />
        </details>
      )}
    </Card>
  );
}
