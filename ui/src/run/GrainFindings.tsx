import { Badge } from "../parts/Badge";
import { countOf } from "../parts/format";
import { FindingCard, FindingList, NOT_CHECKED } from "./FindingList";
import { asText, members, objects, texts } from "./facets";

/** What one row stands for, and which joins may have repeated rows. */
export function GrainFindings({ facet }: { facet: unknown }) {
  const title = "Grain";
  const grainFacet = members(facet);
  if (!Array.isArray(grainFacet.validations)) return <FindingCard title={title} verdict={NOT_CHECKED} />;
  const [checked, open] = [objects(grainFacet.validations), objects(grainFacet.undecided)];
  const failed = checked.filter((one) => one.holds !== true);
  const grains = objects(grainFacet.nodes).filter((one) => texts(one.grain).length > 0);
  return (
    <FindingCard
      title={title}
      verdict={
        <>
          {failed.length > 0 && <Badge tone="bad" icon="cross" word={`${failed.length} of ${checked.length} fail`} />}
          {failed.length === 0 && checked.length > 0 && (
            <Badge tone="good" icon="check" word={`${countOf(checked.length, "check")}, all pass`} />
          )}
          {checked.length === 0 && open.length === 0 && grainFacet.complete !== false && (
            <Badge tone="good" icon="check" word="no join can duplicate rows" />
          )}
          {open.length > 0 && <Badge tone="warn" icon="unknown" word={`${countOf(open.length, "check")} undecided`} />}
          {grainFacet.complete === false && <Badge tone="warn" icon="unknown" word="not all steps are known" />}
        </>
      }
    >
      <FindingList of={[...failed, ...open, ...checked.filter((one) => one.holds === true)]} />
      {grains.map((one) => (
        <div key={JSON.stringify(one)} className="dim breaks">
          One row of {asText(one.node)} is identified by {texts(one.grain).join(", ")}
        </div>
      ))}
    </FindingCard>
  );
}
