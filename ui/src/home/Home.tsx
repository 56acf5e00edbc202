import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "wouter";
import { client, responseData, type Schemas } from "../api/client";
import { to } from "../app/addresses";
import { RunState } from "../parts/Badge";
import { countOf, formatNumber } from "../parts/format";
import { Icon, type IconName } from "../parts/icons";
import { iconOf } from "../parts/kinds";
import { Name } from "../parts/Name";
import { Empty, QueryResult } from "../parts/QueryResult";
import { RelativeTime } from "../parts/RelativeTime";
import { ShowMore } from "../parts/ShowMore";
import "./home.css";

/** The start page: runs and datasets that need attention, and the list of all datasets. */
export default function Home() {
  const overview = useQuery({
    queryKey: ["lineage", "overview"],
    queryFn: () => responseData(client.GET("/api/v1/overview")),
  });
  return (
    <div className="sheet">
      <h1>Search your lineage</h1>
      <QueryResult of={overview} lines={6}>
        {(summary) =>
          summary.counts.datasets + summary.counts.runs === 0 ? (
            <NoLineage />
          ) : (
            <>
              <Totals of={summary.counts} />
              <div className="cards">
                <FailedRuns of={summary.failures} />
                <UnbalancedLedgers of={summary.unbalanced} />
                <IncompleteLineage of={summary.uncovered} />
                <LatestRuns of={summary.recent} />
              </div>
              <Datasets />
            </>
          )
        }
      </QueryResult>
    </div>
  );
}

function NoLineage() {
  return (
    <section className="card column" aria-label="No lineage yet">
      <h2>No lineage yet</h2>
      <p>
        Call <code>hw.enable(spark)</code> in a PySpark job to capture its runs, or send OpenLineage events to{" "}
        <code>POST /api/v1/lineage</code>. Datasets and runs appear here as they arrive.
      </p>
    </section>
  );
}

function Totals({ of }: { of: Schemas["Totals"] }) {
  const parts: [number, string, string?][] = [
    [of.datasets, "dataset"],
    [of.jobs, "job"],
    [of.runs, "run"],
  ];
  return (
    <p className="dim">
      {parts.map(([value, word]) => countOf(value, word)).join(" · ")}
      {" · "}
      {of.failed === 0 ? "none failed in the last 7 days" : `${formatNumber(of.failed)} failed in the last 7 days`}
    </p>
  );
}

function Card({
  title,
  icon,
  tone,
  none,
  children,
}: {
  title: string;
  icon: IconName;
  tone: string;
  none: string;
  children: ReactNode[];
}) {
  const some = children.length > 0;
  return (
    <section className="card column" aria-label={title}>
      <h2 className={`row ${some ? tone : "dim"}`}>
        <Icon name={some ? icon : "check"} />
        {title}
      </h2>
      {some ? <ul className="plain lines">{children}</ul> : <Empty>{none}</Empty>}
    </section>
  );
}

function FailedRuns({ of }: { of: Schemas["FailedRun"][] }) {
  return (
    <Card title="Failed runs" icon="cross" tone="bad" none="No failed runs.">
      {of.map(({ run, message }) => (
        <li key={run.run_id}>
          <div className="row apart">
            <Link href={to.run(run.run_id)} className="grow">
              <Name of={run.job.name} />
            </Link>
            <span className="dim">
              <RelativeTime at={run.last_event_at} />
            </span>
          </div>
          {message && <div className="dim two-lines">{message}</div>}
        </li>
      ))}
    </Card>
  );
}

function UnbalancedLedgers({ of }: { of: Schemas["Run"][] }) {
  return (
    <Card title="Unbalanced ledgers" icon="alert" tone="warn" none="All ledgers balance.">
      {of.map((run) => (
        <RunLine key={run.run_id} of={run} />
      ))}
    </Card>
  );
}

function IncompleteLineage({ of }: { of: Schemas["Coverage"][] }) {
  return (
    <Card title="Incomplete lineage" icon="unknown" tone="warn" none="Column lineage is complete for every dataset.">
      {of.map((one) => (
        <li key={`${one.dataset.namespace} ${one.dataset.name}`}>
          <Link href={to.explore(one.dataset)}>
            <Name of={one.dataset.name} />
          </Link>
          <div className="dim">{missingParts(one)}</div>
        </li>
      ))}
    </Card>
  );
}

function missingParts(one: Schemas["Coverage"]): string {
  const parts = [];
  if (one.gaps.length > 0) parts.push(`${countOf(one.gaps.length, "step")} without lineage`);
  if (one.unknown > 0) parts.push(`columns unknown for ${one.unknown} of ${countOf(one.upstreams, "source")}`);
  return parts.join("; ") || "its producer reports missing lineage";
}

function LatestRuns({ of }: { of: Schemas["Run"][] }) {
  return (
    <Card
      title="Latest runs"
      icon="going"
      tone=""
      none="No runs yet. Call hw.enable(spark) in a PySpark job to capture its runs."
    >
      {of.map((run) => (
        <RunLine key={run.run_id} of={run} state />
      ))}
    </Card>
  );
}

function RunLine({ of, state = false }: { of: Schemas["Run"]; state?: boolean }) {
  return (
    <li className="row apart">
      <Link href={to.run(of.run_id)} className="grow">
        <Name of={of.job.name} />
      </Link>
      {state && <RunState of={of.state} />}
      <span className="dim">
        <RelativeTime at={of.last_event_at} />
      </span>
    </li>
  );
}

const KINDS = ["table", "view", "file", "stream", "report", "model"];

function Datasets() {
  const [searchParams, setSearchParams] = useSearchParams();
  const filter = { search: searchParams.get("search") ?? "", kind: searchParams.get("kind") ?? "" };
  const datasets = useInfiniteQuery({
    queryKey: ["lineage", "datasets", filter],
    queryFn: ({ pageParam }) =>
      responseData(
        client.GET("/api/v1/datasets", {
          params: {
            query: { search: filter.search || null, kind: filter.kind || null, cursor: pageParam, limit: 50 },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  });
  const set = (name: string, value: string) =>
    setSearchParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (value) after.set(name, value);
        else after.delete(name);
        return after;
      },
      { replace: true },
    );
  return (
    <section className="column" aria-label="Datasets">
      <div className="row apart wrap">
        <h2>Datasets</h2>
        <div className="row">
          <input
            aria-label="Filter datasets by name"
            placeholder="Name contains…"
            value={filter.search}
            onChange={(event) => set("search", event.target.value)}
          />
          <select aria-label="Filter by kind" value={filter.kind} onChange={(event) => set("kind", event.target.value)}>
            <option value="">all kinds</option>
            {KINDS.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </div>
      </div>
      <QueryResult of={datasets}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0)
            return (
              <Empty>{filter.search || filter.kind ? "No dataset matches these filters." : "No datasets yet."}</Empty>
            );
          return (
            <>
              <table className="fixed">
                <thead>
                  <tr>
                    <th className="wide">Name</th>
                    <th>Namespace</th>
                    <th>Owner</th>
                    <th>Last seen</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((one) => (
                    <tr key={`${one.dataset.namespace} ${one.dataset.name}`}>
                      <td>
                        <Link href={to.explore(one.dataset)} className="row">
                          <span title={one.kind}>
                            <Icon name={iconOf(one.kind)} />
                          </span>
                          <Name of={one.dataset.name} />
                        </Link>
                      </td>
                      <td className="dim">
                        <Name of={one.dataset.namespace} />
                      </td>
                      <td className="dim">{one.owner ?? ""}</td>
                      <td className="dim">
                        <RelativeTime at={one.last_seen} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <ShowMore of={datasets} />
            </>
          );
        }}
      </QueryResult>
    </section>
  );
}
