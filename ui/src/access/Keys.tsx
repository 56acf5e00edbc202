import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { client, responseData, type Schemas } from "../api/client";
import { session } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Empty, ErrorMessage, QueryResult } from "../parts/QueryResult";
import { RelativeTime } from "../parts/RelativeTime";
import { NewKey } from "./NewKey";
import "./access.css";

const KEYS = ["access", "keys"];

/** API keys. The server returns a key's secret once, when the key is created. */
export default function Keys() {
  const keys = useQuery({ queryKey: KEYS, queryFn: () => responseData(client.GET("/api/v1/access/keys")) });
  return (
    <div className="sheet">
      <h1>Keys</h1>
      <NewKey key={String(keys.data === undefined)} listKey={KEYS} first={keys.data?.items.length === 0} />
      <QueryResult of={keys}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              No keys yet. Until the first key is created, the server accepts requests from this machine only, without a
              key.
            </Empty>
          ) : (
            <div className="scroll">
              <table aria-label="Keys">
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>Scopes</th>
                    <th>Namespaces</th>
                    <th>Created</th>
                    <th>Last used</th>
                    <th>State</th>
                    <th>
                      <span className="sr-only">Revoke</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((key) => (
                    <KeyRow key={key.key_id} of={key} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </QueryResult>
    </div>
  );
}

function KeyRow({ of }: { of: Schemas["AccessKey"] }) {
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => client.DELETE("/api/v1/access/keys/{key_id}", { params: { path: { key_id: of.key_id } } }),
    // The revoked key may be the reader's own, so the session is fetched again too.
    onSuccess: () =>
      Promise.all([KEYS, session.queryKey].map((queryKey) => queries.invalidateQueries({ queryKey: [...queryKey] }))),
  });
  const over = of.expires_at !== null && new Date(of.expires_at) < new Date();
  return (
    <tr>
      <td className="breaks">
        {of.name} <span className="dim mono">{of.key_id}</span>
      </td>
      <td>{of.scopes.join(", ")}</td>
      <td className="mono breaks">{of.namespaces.join(", ")}</td>
      <td>
        <RelativeTime at={of.created_at} />
      </td>
      <td>
        <RelativeTime at={of.last_used} />
      </td>
      <td>
        {of.revoked_at !== null && <Badge tone="dim" icon="stop" word="revoked" />}
        {of.revoked_at === null && over && <Badge tone="dim" icon="stop" word="expired" />}
        {of.revoked_at === null && !over && <Badge tone="good" icon="check" word="active" />}
        {of.revoked_at === null && !over && of.expires_at !== null && (
          <span className="dim">
            {" "}
            expires <RelativeTime at={of.expires_at} />
          </span>
        )}
        {revoke.error && <ErrorMessage error={revoke.error} />}
      </td>
      <td>
        {of.revoked_at === null && (
          <button
            type="button"
            disabled={revoke.isPending}
            onClick={() =>
              confirm(`Revoke the key ${of.name}? Requests with this key fail from now on.`) && revoke.mutate()
            }
          >
            Revoke
          </button>
        )}
      </td>
    </tr>
  );
}
