import { Mark } from "../parts/State";
import { counted } from "../parts/words";
import { Card, NOBODY, Plain } from "./Finding";
import { inWords, listed, members, texts } from "./facets";

/** What one row stands for, and which joins may have repeated rows. */
export function Grain({ facet }: { facet: unknown }) {
  const title = "Grain";
  const told = members(facet);
  if (!Array.isArray(told.validations)) return <Card title={title} verdict={NOBODY} />;
  const [checked, open] = [listed(told.validations), listed(told.undecided)];
  const failed = checked.filter((one) => one.holds !== true);
  const grains = listed(told.nodes).filter((one) => texts(one.grain).length > 0);
  return (
    <Card
      title={title}
      verdict={
        <>
          {failed.length > 0 && (
            <Mark tone="bad" icon="cross" word={`${failed.length} of ${checked.length} do not hold`} />
          )}
          {failed.length === 0 && checked.length > 0 && (
            <Mark tone="good" icon="check" word={`${counted(checked.length, "check")}, all hold`} />
          )}
          {checked.length === 0 && open.length === 0 && told.complete !== false && (
            <Mark tone="good" icon="check" word="nothing that could repeat rows" />
          )}
          {open.length > 0 && <Mark tone="warn" icon="unknown" word={`${counted(open.length, "check")} not decided`} />}
          {told.complete === false && <Mark tone="warn" icon="unknown" word="not all was seen" />}
        </>
      }
    >
      <Plain of={[...failed, ...open, ...checked.filter((one) => one.holds === true)]} />
      {grains.map((one) => (
        <div key={JSON.stringify(one)} className="dim breaks">
          One row of {inWords(one.node)} is one {texts(one.grain).join(", ")}
        </div>
      ))}
    </Card>
  );
}
