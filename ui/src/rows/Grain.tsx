import type { Schemas } from "../api/client";
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

/** Whether the query, run on the returned rows alone, gave the traced rows again. */
export function Verified({ of }: { of: Schemas["VerifiedRows"] | undefined }) {
  if (of === undefined) return null;
  const [tone, icon, word] = VERIFIED[of.answer];
  return (
    <p className="row wrap">
      <Badge tone={tone} icon={icon} word={word} />
      {of.reason !== null && <span className="dim">{of.reason}</span>}
    </p>
  );
}

const VERIFIED = {
  yes: ["good", "check", "Verified by running the query on these rows"],
  no: ["bad", "alert", "Not verified"],
  "not tried": ["dim", "unknown", "Not verified"],
} as const;

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
