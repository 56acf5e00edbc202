import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { answer, client } from "../api/client";
import { address, to } from "../app/places";
import { Answer, Empty } from "../parts/Answer";
import { Name } from "../parts/Name";
import { Mark } from "../parts/State";
import { When } from "../parts/When";
import { counted } from "../parts/words";
import type { Wanted } from "./Search";
import { readFound } from "./trace";

const MOST = 100;

/** Records, the newest first. */
export function Found({ wanted }: { wanted: Wanted }) {
  const { root, node, action, location } = wanted;
  const found = useQuery({
    queryKey: ["lineage", "records", root, node, action, location],
    queryFn: async () => {
      const query = { root: root || null, node: node || null, action: action || null, location: location || null };
      const told = await answer(client.GET("/api/v1/records/find", { params: { query: { ...query, limit: MOST } } }));
      return told.items.map(readFound);
    },
  });
  const anything = root === "" && node === "" && action === "" && location === "";
  return (
    <Answer of={found}>
      {(records) =>
        records.length === 0 ? (
          <Empty>
            {anything
              ? "No records yet. They are sent to /api/v1/records, and loaded by headwater records work."
              : "No record is so."}
          </Empty>
        ) : (
          <section className="card column" aria-label="Records found">
            <h2>
              {anything ? "The latest" : counted(records.length, "record")}
              {records.length === MOST && !anything ? ", the latest; there may be more" : ""}
            </h2>
            <div className="scroll">
              <table aria-label="Records found">
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
                        <When at={record.at} />
                      </td>
                      <td className="wide">
                        <Name of={record.location} />
                      </td>
                      <td>
                        {record.conflict && <Mark tone="warn" icon="alert" word="conflict" />}
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
    </Answer>
  );
}
