import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, type Schemas } from "../api/client";
import { session } from "../api/questions";
import { Answer, Empty, Wrong } from "../parts/Answer";
import { Mark } from "../parts/State";
import { When } from "../parts/When";
import { NewKey } from "./NewKey";
import "./access.css";

const KEYS = ["access", "keys"];

/** Who may come in. A key's secret is shown once, when it is made; nobody can show it again. */
export default function Keys() {
  const keys = useQuery({ queryKey: KEYS, queryFn: () => answer(client.GET("/api/v1/access/keys")) });
  return (
    <div className="sheet">
      <h1>Keys</h1>
      <NewKey key={String(keys.data === undefined)} kept={KEYS} first={keys.data?.items.length === 0} />
      <Answer of={keys}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>There is no key. Without one the server answers on this machine alone, and whoever is on it.</Empty>
          ) : (
            <div className="scroll">
              <table aria-label="Keys">
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>May</th>
                    <th>Namespaces</th>
                    <th>Made</th>
                    <th>Last used</th>
                    <th>State</th>
                    <th>
                      <span className="sr-only">Revoke</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((key) => (
                    <Line key={key.key_id} of={key} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answer>
    </div>
  );
}

function Line({ of }: { of: Schemas["AccessKey"] }) {
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => client.DELETE("/api/v1/access/keys/{key_id}", { params: { path: { key_id: of.key_id } } }),
    // It may have been one's own: who one is has to be asked again too.
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
        <When at={of.created_at} />
      </td>
      <td>
        <When at={of.last_used} />
      </td>
      <td>
        {of.revoked_at !== null && <Mark tone="dim" icon="stop" word="revoked" />}
        {of.revoked_at === null && over && <Mark tone="dim" icon="stop" word="expired" />}
        {of.revoked_at === null && !over && <Mark tone="good" icon="check" word="good" />}
        {of.revoked_at === null && !over && of.expires_at !== null && (
          <span className="dim">
            {" "}
            ends <When at={of.expires_at} />
          </span>
        )}
        {revoke.error && <Wrong error={revoke.error} />}
      </td>
      <td>
        {of.revoked_at === null && (
          <button
            type="button"
            disabled={revoke.isPending}
            onClick={() =>
              confirm(`Revoke the key ${of.name}? Whoever uses it is locked out at once.`) && revoke.mutate()
            }
          >
            Revoke
          </button>
        )}
      </td>
    </tr>
  );
}
