import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { client, responseData, type Schemas } from "../../api/client";
import { to } from "../../app/addresses";
import { type Endpoint, nodeKey } from "../../graph/names";
import { Empty, ErrorMessage, Skeleton } from "../../parts/QueryResult";
import { RelativeTime } from "../../parts/RelativeTime";
import { ShowMore } from "../../parts/ShowMore";

type Entry = Schemas["Provenance"];

const AT_ONCE = 5;

/** Who created, modified, accessed or deleted the dataset, newest first, with the purpose where one is stated. */
export function Provenance({ about }: { about: Endpoint }) {
  const entries = useInfiniteQuery({
    queryKey: ["lineage", "provenance", nodeKey(about)],
    queryFn: ({ pageParam }) => {
      const path = { namespace: about.namespace, name: about.name };
      const query = { limit: AT_ONCE, ...(pageParam === null ? {} : { cursor: pageParam }) };
      return responseData(client.GET("/api/v1/datasets/{namespace}/{name}/provenance", { params: { path, query } }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  });
  const items = entries.data?.pages.flatMap((page) => page.items);
  return (
    <section aria-label="Provenance">
      <h2>Provenance</h2>
      {entries.error && <ErrorMessage error={entries.error} again={() => entries.refetch()} />}
      {!items && !entries.error && <Skeleton lines={3} />}
      {items?.length === 0 && <Empty>No provenance recorded.</Empty>}
      {items && items.length > 0 && (
        <table className="provenance-table">
          <tbody>
            {items.map((entry) => (
              <ProvenanceLine key={entry.provenance_id} of={entry} />
            ))}
          </tbody>
        </table>
      )}
      <ShowMore of={entries} />
    </section>
  );
}

function ProvenanceLine({ of }: { of: Entry }) {
  const { purpose, legal_basis, retention_period, sensitivity_level } = of.context;
  const how = [of.operation.type, of.operation.method, of.stated && "· stated"].filter(Boolean).join(" ");
  const words = [purpose, legal_basis, retention_period && `retention ${retention_period}`].filter(Boolean).join(", ");
  return (
    <tr>
      <td>
        <RelativeTime at={of.at} />
      </td>
      <td>{of.event ?? <span className="dim">unknown</span>}</td>
      <td className="long">
        <Agent of={of} />
        {how && <div className="dim">{how.slice(0, 100)}</div>}
        {words && (
          <div className="dim" title={words.slice(0, 1000)}>
            {words.slice(0, 200)}
          </div>
        )}
        {sensitivity_level && <span className="tag">{sensitivity_level}</span>}
      </td>
    </tr>
  );
}

/** A job links to its run; a stated entry has no run. */
function Agent({ of: { agent, run_id } }: { of: Entry }) {
  const name = (agent.name ?? agent.id ?? "unknown").slice(0, 60);
  const title = [agent.type, agent.id].filter(Boolean).join(" ").slice(0, 500);
  if (run_id === null) return <div title={title}>{name}</div>;
  return (
    <div>
      <Link href={to.run(run_id)} title={title}>
        {name}
      </Link>
    </div>
  );
}
