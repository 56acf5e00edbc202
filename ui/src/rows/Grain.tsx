import { Badge } from "../parts/Badge";
import { GRAINS } from "./steps";

/** How exact an answer is: what is not exact says so, in words. */
export function Grain({ of, blurred = false }: { of: string; blurred?: boolean }) {
  const means = GRAINS[of];
  // What follows from rows of which some had no part is no more exact than they are.
  if (of === "exact" && blurred)
    return <Badge tone="warn" icon="alert" word="exact, except for rows from inexact steps" />;
  if (of === "exact") {
    return (
      <span title={means}>
        <Badge tone="good" icon="check" word="exact" />
      </span>
    );
  }
  return (
    <span className="row wrap grain">
      <Badge
        tone={of === "opaque" ? "dim" : "warn"}
        icon={of === "opaque" ? "unknown" : "alert"}
        word={`not exact: ${of}`}
      />
      {means && <span className="dim">{means}</span>}
    </span>
  );
}

export function Notes({ of }: { of: readonly string[] }) {
  if (of.length === 0) return null;
  return (
    <ul className="plain column tight">
      {of.map((note) => (
        <li key={note} className="row">
          <Badge tone="warn" icon="alert" word="Note" />
          <span className="text">{note}</span>
        </li>
      ))}
    </ul>
  );
}
