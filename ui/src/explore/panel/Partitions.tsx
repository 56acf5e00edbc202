import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { type Endpoint, nodeKey } from "../../graph/names";
import { VIA_JOB } from "../../graph/via-job";
import { countOf } from "../../parts/format";
import { Name } from "../../parts/Name";
import { Empty, QueryResult } from "../../parts/QueryResult";
import { partitionClosure } from "../queries";
import type { ViewChange, ViewState } from "../view-state";
import { ViaJobNote } from "./JobPanel";

interface PartitionsProps {
  about: Endpoint;
  detail: Schemas["DatasetDetail"];
  where: ViewState;
  move: (move: ViewChange, replace?: boolean) => void;
  show: (of: Endpoint) => void;
}

/** The parts that it was written in; of one of them what it came from Downstream of this partition. */
export function Partitions({ about, detail, where, move, show }: PartitionsProps) {
  const [most, setMost] = useState(20);
  const { partitions } = detail;
  if (partitions.length === 0) return null;
  const chosen = where.partition !== null && partitions.includes(where.partition) ? where.partition : null;
  return (
    <section className="column" aria-label="Partitions">
      <h2>{countOf(partitions.length, "partition")}</h2>
      <div className="row wrap">
        {partitions.slice(0, most).map((partition) => (
          <button
            key={partition}
            type="button"
            className="mono"
            aria-pressed={partition === chosen}
            title={partition.slice(0, 500)}
            onClick={() => move({ partition: partition === chosen ? null : partition })}
          >
            {partition.slice(0, 60)}
          </button>
        ))}
        {partitions.length > most && (
          <button type="button" className="quiet" onClick={() => setMost(most + 200)}>
            + {countOf(partitions.length - most, "more", "more")}
          </button>
        )}
      </div>
      {chosen !== null && (
        <>
          <PartitionLineage about={about} partition={chosen} way="upstream" at={where.at} show={show} />
          <PartitionLineage about={about} partition={chosen} way="downstream" at={where.at} show={show} />
        </>
      )}
    </section>
  );
}

interface PartitionLineageProps {
  about: Endpoint;
  partition: string;
  way: "upstream" | "downstream";
  at: string | null;
  show: (of: Endpoint) => void;
}

function PartitionLineage({ about, partition, way, at, show }: PartitionLineageProps) {
  const closureQuery = useQuery(partitionClosure(about, partition, way, at));
  return (
    <div>
      <h2>{way === "upstream" ? "Upstream of this partition" : "Downstream of this partition"}</h2>
      <QueryResult of={closureQuery} lines={2}>
        {({ nodes }) =>
          nodes.length === 0 ? (
            <Empty>No lineage recorded.</Empty>
          ) : (
            <>
              <ul className="plain list">
                {nodes.slice(0, 200).map((node) => (
                  <li key={JSON.stringify([nodeKey(node.endpoint), node.part])} className="row">
                    <button type="button" className="quiet grow" onClick={() => show(node.endpoint)}>
                      <Name of={node.endpoint.name} />
                    </button>
                    {node.via.via_job && <span className="tag via-job">{VIA_JOB}</span>}
                    {node.part !== null && <span className="tag">{node.part.slice(0, 80)}</span>}
                  </li>
                ))}
              </ul>
              {nodes.some((node) => node.via.via_job) && <ViaJobNote />}
            </>
          )
        }
      </QueryResult>
    </div>
  );
}
