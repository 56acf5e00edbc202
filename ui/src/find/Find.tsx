import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "wouter";
import { answer, client, type Schemas } from "../api/client";
import { to } from "../app/places";
import { Answer, Empty } from "../parts/Answer";
import { Icon, type IconName } from "../parts/icons";
import { iconOf } from "../parts/kinds";
import { Name } from "../parts/Name";
import { ShowMore } from "../parts/ShowMore";
import { State } from "../parts/State";
import { When } from "../parts/When";
import { amount, counted } from "../parts/words";
import "./find.css";

/** The front door: what wants looking at, and every dataset. */
export default function Find() {
  const overview = useQuery({
    queryKey: ["lineage", "overview"],
    queryFn: () => answer(client.GET("/api/v1/overview")),
  });
  return (
    <div className="sheet">
      <h1>What do you want to know the origin of?</h1>
      <Answer of={overview} lines={6}>
        {(told) => (
          <>
            <Totals of={told.counts} />
            <div className="cards">
              <Failures of={told.failures} />
              <Unbalanced of={told.unbalanced} />
              <Uncovered of={told.uncovered} />
              <Recent of={told.recent} />
            </div>
          </>
        )}
      </Answer>
      <Datasets />
    </div>
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
      {parts.map(([value, word]) => counted(value, word)).join(" · ")}
      {" · "}
      {of.failed === 0 ? "none failed in the last 7 days" : `${amount(of.failed)} failed in the last 7 days`}
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

function Failures({ of }: { of: Schemas["FailedRun"][] }) {
  return (
    <Card title="Failed lately" icon="cross" tone="bad" none="No run has failed.">
      {of.map(({ run, message }) => (
        <li key={run.run_id}>
          <div className="row apart">
            <Link href={to.run(run.run_id)} className="grow">
              <Name of={run.job.name} />
            </Link>
            <span className="dim">
              <When at={run.last_event_at} />
            </span>
          </div>
          {message && <div className="dim two-lines">{message}</div>}
        </li>
      ))}
    </Card>
  );
}

function Unbalanced({ of }: { of: Schemas["Run"][] }) {
  return (
    <Card title="Ledgers that do not balance" icon="alert" tone="warn" none="Every ledger that was kept balances.">
      {of.map((run) => (
        <RunLine key={run.run_id} of={run} />
      ))}
    </Card>
  );
}

function Uncovered({ of }: { of: Schemas["Coverage"][] }) {
  return (
    <Card
      title="Not wholly known"
      icon="unknown"
      tone="warn"
      none="Of every dataset it is known which columns it was made of."
    >
      {of.map((one) => (
        <li key={`${one.dataset.namespace} ${one.dataset.name}`}>
          <Link href={to.explore(one.dataset)}>
            <Name of={one.dataset.name} />
          </Link>
          <div className="dim">{whatIsMissing(one)}</div>
        </li>
      ))}
    </Card>
  );
}

function whatIsMissing(one: Schemas["Coverage"]): string {
  const parts = [];
  if (one.gaps.length > 0) parts.push(`${counted(one.gaps.length, "place")} in its code could not be read`);
  if (one.unknown > 0) parts.push(`columns unknown for ${one.unknown} of ${counted(one.upstreams, "source")}`);
  return parts.join("; ") || "its producer says that something is missing";
}

function Recent({ of }: { of: Schemas["Run"][] }) {
  return (
    <Card title="Latest runs" icon="going" tone="" none="Nothing has run yet: hw.enable(spark) is where it begins.">
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
      {state && <State of={of.state} />}
      <span className="dim">
        <When at={of.last_event_at} />
      </span>
    </li>
  );
}

const KINDS = ["table", "view", "file", "stream", "report", "model"];

function Datasets() {
  const [words, setWords] = useSearchParams();
  const filter = { search: words.get("search") ?? "", kind: words.get("kind") ?? "" };
  const found = useInfiniteQuery({
    queryKey: ["lineage", "datasets", filter],
    queryFn: ({ pageParam }) =>
      answer(
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
    setWords(
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
            aria-label="Only datasets whose name holds"
            placeholder="Name holds…"
            value={filter.search}
            onChange={(event) => set("search", event.target.value)}
          />
          <select
            aria-label="Only of this kind"
            value={filter.kind}
            onChange={(event) => set("kind", event.target.value)}
          >
            <option value="">every kind</option>
            {KINDS.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </div>
      </div>
      <Answer of={found}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0) return <Empty>No dataset is like that.</Empty>;
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
                        <When at={one.last_seen} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <ShowMore of={found} />
            </>
          );
        }}
      </Answer>
    </section>
  );
}
