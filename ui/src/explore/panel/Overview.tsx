import type { Schemas } from "../../api/client";
import { schemaAt } from "../../graph/card";
import type { GraphEdge } from "../../graph/graph-data";
import { type Endpoint, endpointOf, nodeKey } from "../../graph/names";
import { hubJob, VIA_JOB_REASON } from "../../graph/via-job";
import { Badge } from "../../parts/Badge";
import { Name } from "../../parts/Name";
import { RelativeTime } from "../../parts/RelativeTime";
import type { ExplorerProps } from "../Explorer";
import { columnOn } from "../view-state";
import { coverageOf, descriptionOf, storageOf, uriOf } from "./facets";
import { Partitions } from "./Partitions";
import { Provenance } from "./Provenance";
import { Schema } from "./Schema";
import { Versions } from "./Versions";

type Detail = Schemas["DatasetDetail"];

interface OverviewProps extends ExplorerProps {
  about: Endpoint;
  detail: Detail;
  show: (of: Endpoint) => void;
  edges: readonly GraphEdge[];
}

export function Overview({ about, detail, where, move, root, show, edges }: OverviewProps) {
  const description = descriptionOf(detail.facets);
  return (
    <div className="column">
      {description && <p className="long">{description}</p>}
      <Gaps detail={detail} />
      <ViaJobNotes about={about} edges={edges} show={show} />
      <Facts detail={detail} />
      <Schema
        fields={schemaAt(detail, where.at)}
        chosen={columnOn(where)}
        choose={(column) => move({ on: nodeKey(about) === nodeKey(root) ? null : about, of: about, column, tab: null })}
      />
      <Partitions about={about} detail={detail} where={where} move={move} show={show} />
      <Versions versions={detail.versions} at={where.at} look={(at) => move({ at })} />
      <Provenance about={about} />
    </div>
  );
}

/** The jobs that lead here, or on from here, without a statement which input went into which output. */
function ViaJobNotes({ about, edges, show }: Pick<OverviewProps, "about" | "edges" | "show">) {
  const key = nodeKey(about);
  const near = edges.flatMap(({ from, to, viaJob }) => {
    const [way, other] = to === key ? ["Written", from] : from === key ? ["Read", to] : [null, key];
    const endpoint = viaJob && way ? endpointOf(other) : null;
    const job = endpoint && hubJob(endpoint);
    return endpoint && job ? [{ key: other, endpoint, job, way }] : [];
  });
  if (near.length === 0) return null;
  return (
    <section aria-label="Through the job">
      {near.map(({ key: other, endpoint, job, way }) => (
        <p key={`${way} ${other}`}>
          {way} <span className="tag via-job">through the job</span>{" "}
          <button type="button" className="link" onClick={() => show(endpoint)}>
            <Name of={job.name} />
          </button>
          : {VIA_JOB_REASON}.
        </p>
      ))}
    </section>
  );
}

/** Steps without lineage, with their reasons. */
function Gaps({ detail }: { detail: Detail }) {
  const { complete, gaps } = coverageOf(detail.facets);
  if (complete !== false && gaps.length === 0) return null;
  return (
    <section className="gaps" aria-label="Not captured">
      <Badge tone="warn" icon="alert" word="Lineage incomplete" />
      <ul>
        {gaps.map((gap) => (
          <li key={JSON.stringify(gap)}>
            <code>{gap.operator.slice(0, 200)}</code>: {gap.reason.slice(0, 1000)}
            {gap.columns.length > 0 && (
              <span className="dim"> ({gap.columns.slice(0, 20).join(", ").slice(0, 500)})</span>
            )}
          </li>
        ))}
        {gaps.length === 0 && <li>The run that wrote it gives no reason.</li>}
      </ul>
    </section>
  );
}

function Facts({ detail }: { detail: Detail }) {
  const { summary, facets } = detail;
  const [storage, uri] = [storageOf(facets), uriOf(facets)];
  return (
    <dl className="facts">
      <dt>Kind</dt>
      <dd>
        {summary.kind}
        {storage && <span className="dim"> · {storage.slice(0, 200)}</span>}
      </dd>
      <dt>Owner</dt>
      <dd>{summary.owner?.slice(0, 200) ?? <span className="dim">No owner</span>}</dd>
      {summary.tags.length > 0 && (
        <>
          <dt>Tags</dt>
          <dd className="row wrap">
            {summary.tags.map((tag) => (
              <span key={tag} className="tag" title={tag.slice(0, 500)}>
                {tag.slice(0, 60)}
              </span>
            ))}
          </dd>
        </>
      )}
      {uri && (
        <>
          <dt>Location</dt>
          <dd>
            <Name of={uri} />
          </dd>
        </>
      )}
      {summary.aliases.length > 0 && (
        <>
          <dt>Aliases</dt>
          <dd>
            {summary.aliases.map((alias) => (
              <div key={nodeKey(alias)}>
                <Name of={alias.name} title={`${alias.namespace} ${alias.name}`} />
              </div>
            ))}
          </dd>
        </>
      )}
      <dt>Last event</dt>
      <dd>
        <RelativeTime at={summary.last_seen} />
      </dd>
    </dl>
  );
}
