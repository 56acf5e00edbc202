import { Link } from "wouter";
import { to } from "../../app/addresses";
import type { Endpoint } from "../../graph/names";
import { displayName, hubJob, VIA_JOB, VIA_JOB_REASON } from "../../graph/via-job";
import type { VisibleNode } from "../../graph/visible-graph";
import { formatNumber } from "../../parts/format";
import { Icon } from "../../parts/icons";
import { Name } from "../../parts/Name";

/** A job of the graph: one that stands between inputs and outputs, or one that a producer itself named as an end of an edge. */
export function JobPanel({ job, node }: { job: Endpoint; node: VisibleNode | undefined }) {
  const hub = hubJob(job);
  return (
    <div className="body column">
      <div className="row">
        <Icon name="job" size={18} />
        <h1 className="grow">
          <Name of={displayName(job)} />
        </h1>
      </div>
      <p className="dim">Job in {job.namespace.slice(0, 200)}</p>
      {hub && <ViaJobNote />}
      {node && (
        <dl className="facts">
          <dt>Inputs</dt>
          <dd>{formatNumber(node.card.upstreams)}</dd>
          <dt>Outputs</dt>
          <dd>{formatNumber(node.card.downstreams)}</dd>
        </dl>
      )}
      <Link href={to.job(hub ?? job)}>Runs of this job</Link>
    </div>
  );
}

/** Said wherever an answer leads through a job without knowing which of its inputs matters. */
export function ViaJobNote() {
  return (
    <p>
      <span className="tag via-job">{VIA_JOB}</span> {VIA_JOB_REASON}.
    </p>
  );
}
