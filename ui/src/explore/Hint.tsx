import { endpointOf, type Ref } from "../graph/names";
import type { Line } from "../graph/picture";
import { displayName, VIA_JOB, VIA_JOB_REASON } from "../graph/via-job";
import { short } from "./CardNode";

const MOST = 6;

/** What happens along an edge, beside the mouse. The panel tells the same of a chosen column. */
export function Hint({ line, x, y }: { line: Line; x: number; y: number }) {
  return (
    <div className="hint" role="tooltip" style={{ left: x, top: y }}>
      {line.of.length === 0 ? (
        <div>
          {line.jobs.length > 0 ? (
            <>
              by <span className="mono">{line.jobs.slice(0, MOST).map(short).join(", ")}</span>
            </>
          ) : (
            "by no job that is known"
          )}
          {line.kind === "via-job" && <ViaJob />}
        </div>
      ) : (
        line.of.slice(0, MOST).map((edge) => (
          <div key={JSON.stringify([edge.from, edge.to])}>
            <div className="mono">
              {told(edge.from)} → {told(edge.to)}
            </div>
            {edge.ways.map((way) => (
              <div key={JSON.stringify(way)}>
                <span className="tag">{way.dependency.toLowerCase()}</span> {way.type?.toLowerCase() ?? ""}
                {way.logic && <code> {way.logic.slice(0, 300)}</code>}
                {way.masking && " · masked"}
                {way.job && <span className="dim"> · {short(way.job)}</span>}
                {way.viaJob && <ViaJob />}
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

function ViaJob() {
  return (
    <div>
      <span className="tag via-job">{VIA_JOB}</span> {VIA_JOB_REASON}
    </div>
  );
}

function told({ node, column }: Ref): string {
  const endpoint = endpointOf(node);
  const name = short(endpoint ? displayName(endpoint) : "");
  const last = name.slice(name.lastIndexOf("/") + 1) || name;
  return column === null ? `${last} (as a whole)` : `${last}.${short(column)}`;
}
