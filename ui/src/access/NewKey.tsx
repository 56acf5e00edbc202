import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { answer, client, type Schemas } from "../api/client";
import { Wrong } from "../parts/Answer";
import { Copy } from "../parts/Copy";

const SCOPES: [scope: Schemas["Scope"], word: string][] = [
  ["read", "read"],
  ["write", "send events and records"],
  ["admin", "look after keys, run queries again"],
];

interface Asked {
  name: string;
  scopes: Schemas["Scope"][];
  namespaces: string[];
  expires_in_days?: number;
}

export function NewKey({ kept, first }: { kept: string[]; first: boolean }) {
  const queries = useQueryClient();
  const make = useMutation({
    mutationFn: (body: Asked) => answer(client.POST("/api/v1/access/keys", { body })),
    // After the first one the list wants a key as well; what was just made is to be read in peace before.
    onSuccess: () => (first ? undefined : queries.invalidateQueries({ queryKey: kept })),
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
    <section className="card column" aria-label="A new key">
      <h2>A new key</h2>
      <form className="row wrap" onSubmit={submit}>
        <label className="field">
          Whose it is
          <input name="name" required maxLength={200} />
        </label>
        <fieldset className="row">
          <legend className="dim">It may</legend>
          {SCOPES.map(([scope, word]) => (
            <label key={scope} className="row">
              <input type="checkbox" name="scope" value={scope} defaultChecked={first || scope === "read"} />
              {word}
            </label>
          ))}
        </fieldset>
        <label className="field">
          In namespaces (`*` is all, `prod*` a beginning)
          <input name="namespaces" className="mono" defaultValue="*" required />
        </label>
        <label className="field">
          For days (empty: until revoked)
          <input name="days" type="number" min="1" max="36500" defaultValue="90" />
        </label>
        <button type="submit" className="first" disabled={make.isPending}>
          Make it
        </button>
      </form>
      {first && (
        <p className="dim">
          It is the first: from then on this server asks everybody for a key, you too. Let it look after keys.
        </p>
      )}
      {make.error && <Wrong error={make.error} />}
      {make.data && (
        <div className="secret" role="status">
          <strong>Keep it now: it is not shown again.</strong>
          <div className="row">
            <code>{make.data.secret}</code>
            <Copy text={make.data.secret} />
          </div>
        </div>
      )}
    </section>
  );
}
