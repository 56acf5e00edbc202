import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { ApiError, client, responseData, type Schemas } from "../api/client";
import { to } from "../app/addresses";
import { Copy } from "../parts/Copy";
import { formatNumber } from "../parts/format";
import { Name } from "../parts/Name";
import { Empty, QueryResult } from "../parts/QueryResult";
import { RelativeTime } from "../parts/RelativeTime";
import { ShowMore } from "../parts/ShowMore";
import { VerifyNow } from "./VerifyLog";
import "./audit.css";

const FILTERS: [name: string, label: string][] = [
  ["event_type", "Event type"],
  ["actor", "Actor"],
  ["resource", "Resource"],
  ["correlation_id", "Request"],
];

const NO_ENTRIES = "No entries yet. The log gets an entry for each received event, each key and each certificate.";

/** The audit log: the latest checkpoint and the entries. */
export default function Audit() {
  return (
    <div className="sheet">
      <h1>Audit log</h1>
      <LogHead />
      <Entries />
    </div>
  );
}

function LogHead() {
  const newest = useQuery({
    queryKey: ["lineage", "checkpoint"],
    queryFn: async () => {
      try {
        return await responseData(client.GET("/api/v1/log/checkpoint"));
      } catch (problem) {
        if (problem instanceof ApiError && problem.status === 404) return null; // no checkpoint yet
        throw problem;
      }
    },
  });
  return (
    <section className="card column" aria-label="Latest checkpoint">
      <div className="row apart wrap">
        <h2>Latest checkpoint</h2>
        <VerifyNow />
      </div>
      <QueryResult of={newest} lines={2}>
        {(signed) =>
          signed === null ? (
            <Empty>
              No checkpoint yet: <code>headwater checkpoint</code> signs the log.
            </Empty>
          ) : (
            <SignedCheckpoint of={signed} />
          )
        }
      </QueryResult>
    </section>
  );
}

function SignedCheckpoint({ of }: { of: Schemas["SignedCheckpoint"] }) {
  return (
    <dl className="facts">
      <dt>Entries</dt>
      <dd>{formatNumber(of.size)}</dd>
      <dt>Root hash</dt>
      <dd className="row">
        <Name of={of.root} />
        <Copy text={of.root} />
      </dd>
      <dt>Key</dt>
      <dd className="row">
        <code className="breaks">{of.key}</code>
        <Copy text={of.note} word="Copy checkpoint" />
      </dd>
    </dl>
  );
}

function Entries() {
  const [searchParams, setSearchParams] = useSearchParams();
  const filter = Object.fromEntries(FILTERS.map(([name]) => [name, searchParams.get(name) || null]));
  const entryPages = useInfiniteQuery({
    queryKey: ["lineage", "audit", filter],
    queryFn: ({ pageParam }) =>
      responseData(client.GET("/api/v1/audit", { params: { query: { ...filter, cursor: pageParam, limit: 50 } } })),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  });
  return (
    <section className="column" aria-label="Entries">
      <form
        className="row wrap"
        // Filters apply on submit, not on each keystroke.
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const params = new URLSearchParams();
          for (const [name] of FILTERS) {
            const value = String(form.get(name) ?? "").trim();
            if (value) params.set(name, value);
          }
          setSearchParams(params);
        }}
      >
        {FILTERS.map(([name, label]) => (
          <label className="field" key={name}>
            {label}
            <input name={name} defaultValue={searchParams.get(name) ?? ""} key={searchParams.get(name)} />
          </label>
        ))}
        <button type="submit">Apply filters</button>
        {searchParams.size > 0 && <Link href={to.audit()}>Clear filters</Link>}
      </form>
      <QueryResult of={entryPages} lines={8}>
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.items);
          if (entries.length === 0)
            return <Empty>{searchParams.size > 0 ? "No entry matches these filters." : NO_ENTRIES}</Empty>;
          return (
            <>
              <ol className="plain entries">
                {entries.map((entry) => (
                  <Entry key={entry.seq} of={entry} />
                ))}
              </ol>
              <ShowMore of={entryPages} />
            </>
          );
        }}
      </QueryResult>
    </section>
  );
}

function Entry({ of }: { of: Schemas["AuditEntry"] }) {
  return (
    <li>
      <details>
        <summary>
          <span className="dim number">{formatNumber(of.seq)}</span>
          <span className="entry-type">{of.event_type}</span>
          <span className="grow">{of.resource_id !== null && <Name of={of.resource_id} />}</span>
          <span className="dim">{of.actor_id}</span>
          <span className="dim">
            <RelativeTime at={of.recorded_at} />
          </span>
        </summary>
        <dl className="facts">
          <dt>Hash</dt>
          <dd className="mono">{of.hash}</dd>
          <dt>Previous hash</dt>
          <dd className="mono">{of.previous_hash}</dd>
          {of.client_ip !== null && (
            <>
              <dt>Client</dt>
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
                <Link href={to.run(of.resource_id)}>Open the run</Link>
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
