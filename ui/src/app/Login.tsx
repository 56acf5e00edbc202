import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { client, responseData } from "../api/client";
import { session } from "../api/queries";
import { ROOT } from "../api/root";
import { ErrorMessage } from "../parts/QueryResult";

/** A key is shown once; from then on the browser has a cookie that no script can read. */
export function Login() {
  const queries = useQueryClient();
  const [key, setKey] = useState("");
  const [error, setError] = useState<unknown>(null);
  const enter = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await responseData(client.POST("/api/v1/session", { body: { key } }));
      setKey("");
      await queries.resetQueries({ queryKey: session.queryKey });
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <main className="login card column">
      <h1>Headwater</h1>
      <form className="column" onSubmit={enter}>
        <label className="field">
          {" "}
          API key{" "}
          <input
            className="mono"
            type="password"
            autoComplete="current-password"
            required
            value={key}
            placeholder="hw_…"
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        <button type="submit" className="first">
          Log in
        </button>
      </form>
      {error !== null && <ErrorMessage error={error} />}
      <p className="dim">
        The administrator of this server creates keys with <code>headwater access add</code>.
      </p>
    </main>
  );
}

export function LogOut({ name }: { name: string }) {
  const queries = useQueryClient();
  const leave = async () => {
    await client.DELETE("/api/v1/session");
    queries.clear();
    location.assign(`${ROOT}/`);
  };
  return (
    <button type="button" className="quiet" onClick={leave} title={`Logged in as ${name}`}>
      Log out
    </button>
  );
}
