import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { answer, client, type Schemas, Trouble } from "../api/client";
import { to } from "../app/places";
import { Answer, Empty } from "../parts/Answer";
import { Copy } from "../parts/Copy";
import { Name } from "../parts/Name";
import { ShowMore } from "../parts/ShowMore";
import { When } from "../parts/When";
import { amount, counted } from "../parts/words";
import { VerifyNow } from "./VerifyNow";
import "./audit.css";

const FILTERS: [name: string, label: string][] = [
  ["event_type", "What happened"],
  ["actor", "Who"],
  ["resource", "To what"],
  ["correlation_id", "Request"],
];

/** Who did what, and the head of the tree that holds all of it. */
export default function Audit() {
  return (
    <div className="sheet">
      <h1>Audit log</h1>
      <Head />
      <Entries />
    </div>
  );
}

function Head() {
  const newest = useQuery({
    queryKey: ["lineage", "checkpoint"],
    queryFn: async () => {
      try {
        return await answer(client.GET("/api/v1/log/checkpoint"));
      } catch (problem) {
        if (problem instanceof Trouble && problem.status === 404) return null; // a log that nobody signed yet
        throw problem;
      }
    },
  });
  return (
    <section className="card column" aria-label="The head of the tree">
      <div className="row apart wrap">
        <h2>The head of the tree</h2>
        <VerifyNow />
      </div>
      <Answer of={newest} lines={2}>
        {(signed) =>
          signed === null ? (
            <Empty>
              The log was never signed. <code>headwater checkpoint</code> signs it with a key that the store does not
              have.
            </Empty>
          ) : (
            <Signed of={signed} />
          )
        }
      </Answer>
    </section>
  );
}

function Signed({ of }: { of: Schemas["SignedCheckpoint"] }) {
  return (
    <dl className="facts">
      <dt>Signed</dt>
      <dd>{counted(of.size, "entry", "entries")}</dd>
      <dt>Root</dt>
      <dd className="row">
        <Name of={of.root} />
        <Copy text={of.root} />
      </dd>
      <dt>By</dt>
      <dd className="row">
        <Name of={of.key} />
        <Copy text={of.note} word="Copy the checkpoint" />
      </dd>
    </dl>
  );
}

function Entries() {
  const [words, setWords] = useSearchParams();
  const filter = Object.fromEntries(FILTERS.map(([name]) => [name, words.get(name) || null]));
  const found = useInfiniteQuery({
    queryKey: ["lineage", "audit", filter],
    queryFn: ({ pageParam }) =>
      answer(client.GET("/api/v1/audit", { params: { query: { ...filter, cursor: pageParam, limit: 50 } } })),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  });
  return (
    <section className="column" aria-label="Entries">
      <form
        className="row wrap"
        // What is typed is looked for when it is whole.
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const asked = new URLSearchParams();
          for (const [name] of FILTERS) {
            const value = String(form.get(name) ?? "").trim();
            if (value) asked.set(name, value);
          }
          setWords(asked);
        }}
      >
        {FILTERS.map(([name, label]) => (
          <label className="field" key={name}>
            {label}
            <input name={name} defaultValue={words.get(name) ?? ""} key={words.get(name)} />
          </label>
        ))}
        <button type="submit">Show these</button>
        {words.size > 0 && <Link href={to.audit()}>Show all</Link>}
      </form>
      <Answer of={found} lines={8}>
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.items);
          if (entries.length === 0) return <Empty>No entry is like that.</Empty>;
          return (
            <>
              <ol className="plain entries">
                {entries.map((entry) => (
                  <Entry key={entry.seq} of={entry} />
                ))}
              </ol>
              <ShowMore of={found} />
            </>
          );
        }}
      </Answer>
    </section>
  );
}

function Entry({ of }: { of: Schemas["AuditEntry"] }) {
  return (
    <li>
      <details>
        <summary>
          <span className="dim number">{amount(of.seq)}</span>
          <span className="what">{of.event_type}</span>
          <span className="grow">{of.resource_id !== null && <Name of={of.resource_id} />}</span>
          <span className="dim">{of.actor_id}</span>
          <span className="dim">
            <When at={of.recorded_at} />
          </span>
        </summary>
        <dl className="facts">
          <dt>Hash</dt>
          <dd className="mono">{of.hash}</dd>
          <dt>The one before</dt>
          <dd className="mono">{of.previous_hash}</dd>
          {of.client_ip !== null && (
            <>
              <dt>From</dt>
              <dd>
                {of.client_ip} {of.user_agent !== null && <span className="dim">{of.user_agent}</span>}
              </dd>
            </>
          )}
          {of.correlation_id !== null && (
            <>
              <dt>Request</dt>
              <dd>
                <Link href={to.audit({ correlation_id: of.correlation_id })} className="mono">
                  {of.correlation_id}
                </Link>
              </dd>
            </>
          )}
          {of.resource_type === "run" && of.resource_id !== null && (
            <>
              <dt>Run</dt>
              <dd>
                <Link href={to.run(of.resource_id)}>what ran</Link>
              </dd>
            </>
          )}
          <dt>Details</dt>
          <dd>
            <pre>{JSON.stringify(of.details, null, 2)}</pre>
          </dd>
        </dl>
      </details>
    </li>
  );
}
