import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { to } from "../app/places";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { counted } from "../parts/words";
import { deadLettersOf } from "./nodes";

/** Rows that a step could not take, and where they are kept until somebody replays them. */
export function DeadLetterLines({ detail }: { detail: Schemas["RunDetail"] }) {
  const found = deadLettersOf(detail.run_facets, detail.outputs);
  if (found.length === 0) return null;
  return (
    <ul className="plain notes" aria-label="Dead letters">
      {found.map(({ node, letters, dataset }) => (
        <li key={node} className="row start warn">
          <Icon name="alert" />
          <span className="ink breaks">
            {counted(letters, "dead letter")} at <Name of={node} />
            {dataset === null ? (
              "; the run does not say where"
            ) : (
              <>
                , kept in{" "}
                <Link href={to.explore(dataset)}>
                  <Name of={dataset.name} />
                </Link>
                . <Link href={to.rows(dataset)}>See their rows</Link>
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
