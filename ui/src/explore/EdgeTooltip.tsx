import type { Line } from "../graph/lines";
import { endpointOf, type Ref } from "../graph/names";
import { displayName, VIA_JOB, VIA_JOB_REASON } from "../graph/via-job";
import { shortName } from "./CardNode";

const MOST = 6;

/** Job and logic of the edge under the mouse. The panel has the same for a selected column. */
export function EdgeTooltip({ line, x, y }: { line: Line; x: number; y: number }) {
  return (
    <div className="edge-tooltip" role="tooltip" style={{ left: x, top: y }}>
      {line.of.length === 0 ? (
        <div>
          {line.jobs.length > 0 ? (
            <>
              by <span className="mono">{line.jobs.slice(0, MOST).map(shortName).join(", ")}</span>
            </>
          ) : (
            "no job recorded"
          )}
          {line.kind === "via-job" && <ViaJobLine />}
        </div>
      ) : (
        line.of.slice(0, MOST).map((edge) => (
          <div key={JSON.stringify([edge.from, edge.to])}>
            <div className="mono">
              {refLabel(edge.from)} → {refLabel(edge.to)}
            </div>
            {edge.derivations.map((way) => (
              <div key={JSON.stringify(way)}>
                <span className="tag">{way.dependency.toLowerCase()}</span> {way.type?.toLowerCase() ?? ""}
                {way.logic && <code> {way.logic.slice(0, 300)}</code>}
                {way.masking && " · masked"}
                {way.job && <span className="dim"> · {shortName(way.job)}</span>}
                {way.viaJob && <ViaJobLine />}
              </div>
            ))}
          </div>
        ))
      )}
      {line.of.length > MOST && <div className="dim">and {line.of.length - MOST} more</div>}
      {line.sign && (
        <div className={line.sign === "+" ? "good" : "bad"}>
          {line.sign === "+" ? "+ only in the later run" : "− only in the earlier run"}
        </div>
      )}
    </div>
  );
}

function ViaJobLine() {
  return (
    <div>
      <span className="tag via-job">{VIA_JOB}</span> {VIA_JOB_REASON}
    </div>
  );
}

function refLabel({ node, column }: Ref): string {
  const endpoint = endpointOf(node);
  const name = shortName(endpoint ? displayName(endpoint) : "");
  const last = name.slice(name.lastIndexOf("/") + 1) || name;
  return column === null ? `${last} (as a whole)` : `${last}.${shortName(column)}`;
}
