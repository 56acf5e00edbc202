import type { Schemas } from "../api/client";
import { Badge } from "../parts/Badge";
import { countOf } from "../parts/format";
import { Name } from "../parts/Name";
import { FindingCard, FindingList, MOST, NOT_CHECKED } from "./FindingList";
import { asText, members, objects, text } from "./facets";
import { GrainFindings } from "./GrainFindings";
import { LongText } from "./LongText";
import { gapsOf } from "./step-rows";

const TYPES = "cdme.typeUnification";
const GRAIN = "cdme.grainSafety";

/** Lineage coverage, what types may have lost, and which joins may have repeated rows. */
export function Findings({ detail }: { detail: Schemas["RunDetail"] }) {
  const { outputs, run_facets: facets } = detail;
  // A run without outputs has nothing to check.
  if (outputs.length === 0 && facets[TYPES] === undefined && facets[GRAIN] === undefined) return null;
  return (
    <div className="thirds">
      <CoverageFindings outputs={detail.outputs} />
      <TypeFindings facet={detail.run_facets[TYPES]} />
      <GrainFindings facet={detail.run_facets[GRAIN]} />
    </div>
  );
}

function CoverageFindings({ outputs }: { outputs: Schemas["DatasetUse"][] }) {
  const gaps = gapsOf(outputs);
  if (gaps === null) return <FindingCard title="Lineage coverage" verdict={NOT_CHECKED} />;
  if (gaps.length === 0) {
    return (
      <FindingCard
        title="Lineage coverage"
        verdict={<Badge tone="good" icon="check" word="complete: every step has lineage" />}
      />
    );
  }
  return (
    <FindingCard
      title="Lineage coverage"
      verdict={
        <Badge tone="warn" icon="alert" word={countOf(gaps.length, "step without lineage", "steps without lineage")} />
      }
    >
      <ul className="plain lines">
        {gaps.slice(0, MOST).map((gap) => (
          <li key={JSON.stringify(gap)}>
            <div className="row">
              <Name of={gap.operator} />
            </div>
            <div>
              <LongText of={gap.reason ?? "no reason given"} />
            </div>
            {gap.columns.length > 0 && (
              <div className="dim">
                columns <LongText of={gap.columns.join(", ")} />
              </div>
            )}
            <div className="dim row">
              {" "}
              upstream of <Name of={gap.output} />
            </div>
          </li>
        ))}
      </ul>
    </FindingCard>
  );
}

function TypeFindings({ facet }: { facet: unknown }) {
  const title = "Types";
  const typeFacet = members(facet);
  if (!Array.isArray(typeFacet.morphismReports)) return <FindingCard title={title} verdict={NOT_CHECKED} />;
  const casts = objects(typeFacet.morphismReports);
  const lossy = casts.filter((one) => one.lossy === true);
  const nullable = objects(typeFacet.nullabilityChanges);
  const partly = typeFacet.complete === false;
  const verdict =
    lossy.length > 0 ? (
      <Badge tone="warn" icon="alert" word={`${countOf(lossy.length, "cast")} may lose data`} />
    ) : partly ? (
      <Badge tone="warn" icon="unknown" word="no lossy cast found; not all casts are known" />
    ) : (
      <Badge tone="good" icon="check" word="no lossy casts" />
    );
  return (
    <FindingCard title={title} verdict={verdict}>
      {casts.length > 0 && (
        <ul className="plain lines">
          {[...lossy, ...casts.filter((one) => one.lossy !== true)].slice(0, MOST).map((one) => (
            <li key={JSON.stringify(one)}>
              <div className="row wrap">
                <Name of={text(one.column) ?? "a column"} />
                <span className="mono">
                  {asText(one.from)} → {asText(one.to)}
                </span>
                {one.lossy === true ? (
                  <Badge tone="warn" icon="alert" word="may lose data" />
                ) : (
                  <span className="dim">lossless</span>
                )}
              </div>
              {text(one.expression) && (
                <code className="dim">
                  <LongText of={text(one.expression) ?? ""} />
                </code>
              )}
            </li>
          ))}
        </ul>
      )}
      {nullable.length > 0 && (
        <details>
          <summary>
            {countOf(nullable.length, "column with changed nullability", "columns with changed nullability")}
          </summary>
          <FindingList of={nullable} />
        </details>
      )}
    </FindingCard>
  );
}
