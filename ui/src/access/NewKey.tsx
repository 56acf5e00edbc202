import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { client, responseData, type Schemas } from "../api/client";
import { Copy } from "../parts/Copy";
import { ErrorMessage } from "../parts/QueryResult";

const SCOPES: [scope: Schemas["Scope"], word: string][] = [
  ["read", "read"],
  ["write", "write events and records"],
  ["admin", "admin: manage keys, run queries on Spark"],
];

interface KeyRequest {
  name: string;
  scopes: Schemas["Scope"][];
  namespaces: string[];
  expires_in_days?: number;
}

export function NewKey({ listKey, first }: { listKey: string[]; first: boolean }) {
  const queries = useQueryClient();
  const make = useMutation({
    mutationFn: (body: KeyRequest) => responseData(client.POST("/api/v1/access/keys", { body })),
    // After the first key the list needs a key as well; the reader copies the new secret before that.
    onSuccess: () => (first ? undefined : queries.invalidateQueries({ queryKey: listKey })),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const days = Number(form.get("days"));
    make.mutate({
      name: String(form.get("name")),
      scopes: form.getAll("scope") as Schemas["Scope"][],
      namespaces: String(form.get("namespaces"))
        .split(/[\s,]+/)
        .filter(Boolean),
      ...(days > 0 ? { expires_in_days: days } : {}),
    });
  };
  return (
    <section className="card column" aria-label="New key">
      <h2>New key</h2>
      <form className="row wrap" onSubmit={submit}>
        <label className="field">
          Name
          <input name="name" required maxLength={200} />
        </label>
        <fieldset className="row">
          <legend className="dim">Scopes</legend>
          {SCOPES.map(([scope, word]) => (
            <label key={scope} className="row">
              <input type="checkbox" name="scope" value={scope} defaultChecked={first || scope === "read"} />
              {word}
            </label>
          ))}
        </fieldset>
        <label className="field">
          Namespaces (* for all, prod* for a prefix)
          <input name="namespaces" className="mono" defaultValue="*" required />
        </label>
        <label className="field">
          Valid for days (empty: until revoked)
          <input name="days" type="number" min="1" max="36500" defaultValue="90" />
        </label>
        <button type="submit" className="first" disabled={make.isPending}>
          Create key
        </button>
      </form>
      {first && (
        <p className="dim">
          This is the first key: as soon as it exists, every request needs a key, yours too. Give it the scope admin.
        </p>
      )}
      {make.error && <ErrorMessage error={make.error} />}
      {make.data && (
        <div className="secret" role="status">
          <strong>Copy the key now: it is not shown again.</strong>
          <div className="row">
            <code>{make.data.secret}</code>
            <Copy text={make.data.secret} />
          </div>
        </div>
      )}
    </section>
  );
}
