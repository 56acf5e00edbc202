import type { Schemas } from "../api/client";
import { Copy } from "../parts/Copy";
import { Icon } from "../parts/icons";
import { members, text } from "./facets";

/** Why it failed, as it was told. */
export function Failure({ detail }: { detail: Schemas["RunDetail"] }) {
  const told = members(detail.run_facets.errorMessage);
  const message = text(told.message);
  const trace = text(told.stackTrace);
  const failed = detail.run.state === "FAIL";
  if (message === null && !failed) return null;
  return (
    <section className="trouble failure" aria-label="Why it failed">
      <h2 className="row bad">
        <Icon name="cross" />
        {failed ? "Why it failed" : "An error it told of"}
      </h2>
      {message === null ? <p>The run failed and did not say why.</p> : <pre className="message">{message}</pre>}
      {trace && (
        <details>
          <summary>
            Where, in the program{text(told.programmingLanguage) && ` (${text(told.programmingLanguage)})`}
          </summary>
          <pre className="block">{trace}</pre>
          <Copy text={trace} word="Copy all of it" />
        </details>
      )}
    </section>
  );
}
