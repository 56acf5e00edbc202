import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { to } from "../app/addresses";
import { countOf } from "../parts/format";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { deadLettersOf } from "./step-rows";

/** Rows that a step failed on, and where they are stored until they are replayed. */
export function DeadLetterLines({ detail }: { detail: Schemas["RunDetail"] }) {
  const deadLetters = deadLettersOf(detail.run_facets, detail.outputs);
  if (deadLetters.length === 0) return null;
  return (
    <ul className="plain notes" aria-label="Dead letters">
      {deadLetters.map(({ node, letters, dataset }) => (
        <li key={node} className="row start warn">
          <Icon name="alert" />
          <span className="ink breaks">
            {countOf(letters, "dead letter")} at <Name of={node} />
            {dataset === null ? (
              "; their location is not recorded"
            ) : (
              <>
                , stored in{" "}
                <Link href={to.explore(dataset)}>
                  <Name of={dataset.name} />
                </Link>
                . <Link href={to.rows(dataset)}>View rows</Link>
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
