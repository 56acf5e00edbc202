import type { Schemas } from "../api/client";
import { Copy } from "../parts/Copy";
import { Icon } from "../parts/icons";
import { members, text } from "./facets";

/** The error of a run. */
export function Failure({ detail }: { detail: Schemas["RunDetail"] }) {
  const errorFacet = members(detail.run_facets.errorMessage);
  const message = text(errorFacet.message);
  const trace = text(errorFacet.stackTrace);
  const failed = detail.run.state === "FAIL";
  if (message === null && !failed) return null;
  return (
    <section className="error-message failure" aria-label="Error">
      <h2 className="row bad">
        <Icon name="cross" />
        {failed ? "Error" : "Error reported by the run"}
      </h2>
      {message === null ? <p>The run failed without an error message.</p> : <pre className="message">{message}</pre>}
      {trace && (
        <details>
          <summary>
            Stack trace{text(errorFacet.programmingLanguage) && ` (${text(errorFacet.programmingLanguage)})`}
          </summary>
          <pre className="block">{trace}</pre>
          <Copy text={trace} word="Copy stack trace" />
        </details>
      )}
    </section>
  );
}
