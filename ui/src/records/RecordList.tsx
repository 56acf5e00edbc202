import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { client, responseData } from "../api/client";
import { address, to } from "../app/addresses";
import { Badge } from "../parts/Badge";
import { countOf } from "../parts/format";
import { Name } from "../parts/Name";
import { Empty, QueryResult } from "../parts/QueryResult";
import { RelativeTime } from "../parts/RelativeTime";
import type { RecordFilter } from "./Search";
import { readRecord } from "./trace";

const MOST = 100;

/** Records, the newest first. */
export function RecordList({ wanted }: { wanted: RecordFilter }) {
  const { root, node, action, location } = wanted;
  const recordsQuery = useQuery({
    queryKey: ["lineage", "records", root, node, action, location],
    queryFn: async () => {
      const query = { root: root || null, node: node || null, action: action || null, location: location || null };
      const page = await responseData(
        client.GET("/api/v1/records/find", { params: { query: { ...query, limit: MOST } } }),
      );
      return page.items.map(readRecord);
    },
  });
  const anything = root === "" && node === "" && action === "" && location === "";
  return (
    <QueryResult of={recordsQuery}>
      {(records) =>
        records.length === 0 ? (
          <Empty>
            {anything
              ? "No records yet. Send them to POST /api/v1/records and load them with headwater records work."
              : "No record matches these filters."}
          </Empty>
        ) : (
          <section className="card column" aria-label="Matching records">
            <h2>
              {anything ? "Latest records" : countOf(records.length, "record")}
              {records.length === MOST && !anything ? ", latest first; there may be more" : ""}
            </h2>
            <div className="scroll">
              <table aria-label="Matching records">
                <thead>
                  <tr>
                    <th>Node</th>
                    <th>Root</th>
                    <th>Action</th>
                    <th>Recorded</th>
                    <th>Stored at</th>
                    <th>
                      <span className="sr-only">State</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {records.map((record) => (
                    <tr key={JSON.stringify([record.root, record.node, record.action, record.location])}>
                      <td className="narrow">
                        <Link href={address("/records", { root: record.root, at: record.node })}>
                          <Name of={record.node} />
                        </Link>
                      </td>
                      <td className="narrow">
                        <Link href={to.records(record.root)}>
                          <Name of={record.root} />
                        </Link>
                      </td>
                      <td className="narrow">
                        <Name of={record.action} />
                      </td>
                      <td>
                        <RelativeTime at={record.at} />
                      </td>
                      <td className="wide">
                        <Name of={record.location} />
                      </td>
                      <td>
                        {record.conflict && <Badge tone="warn" icon="alert" word="conflict" />}
                        {record.archived && <span className="tag">archived</span>}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </section>
        )
      }
    </QueryResult>
  );
}
