import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { answer, client, type Schemas } from "../../api/client";
import { to } from "../../app/places";
import { type Endpoint, nodeKey } from "../../graph/names";
import { Empty, Skeleton, Wrong } from "../../parts/Answer";
import { ShowMore } from "../../parts/ShowMore";
import { When } from "../../parts/When";

type Entry = Schemas["Provenance"];

const AT_ONCE = 5;

/** Who created, modified, accessed or deleted it, the newest first; what for, where that was said. */
export function Provenance({ about }: { about: Endpoint }) {
  const found = useInfiniteQuery({
    queryKey: ["lineage", "provenance", nodeKey(about)],
    queryFn: ({ pageParam }) => {
      const path = { namespace: about.namespace, name: about.name };
      const query = { limit: AT_ONCE, ...(pageParam === null ? {} : { cursor: pageParam }) };
      return answer(client.GET("/api/v1/datasets/{namespace}/{name}/provenance", { params: { path, query } }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  });
  const items = found.data?.pages.flatMap((page) => page.items);
  return (
    <section aria-label="Provenance">
      <h2>Provenance</h2>
      {found.error && <Wrong error={found.error} again={() => found.refetch()} />}
      {!items && !found.error && <Skeleton lines={3} />}
      {items?.length === 0 && <Empty>Nothing is known of who used it.</Empty>}
      {items && items.length > 0 && (
        <table className="used">
          <tbody>
            {items.map((entry) => (
              <Line key={entry.provenance_id} of={entry} />
            ))}
          </tbody>
        </table>
      )}
      <ShowMore of={found} />
    </section>
  );
}

function Line({ of }: { of: Entry }) {
  const { purpose, legal_basis, retention_period, sensitivity_level } = of.context;
  const how = [of.operation.type, of.operation.method, of.stated && "· stated"].filter(Boolean).join(" ");
  const words = [purpose, legal_basis, retention_period && `kept ${retention_period}`].filter(Boolean).join(", ");
  return (
    <tr>
      <td>
        <When at={of.at} />
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

/** A job leads to the run; what somebody stated has none. On a line of its own: a link among words looks like them. */
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
