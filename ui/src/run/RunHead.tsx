import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { client, responseData, type Schemas } from "../api/client";
import { ROOT } from "../api/root";
import { to } from "../app/addresses";
import { Copy } from "../parts/Copy";
import { exactTime } from "../parts/format";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import type { RunFigures } from "./figures";
import { bundlePath, type ProofQuery } from "./proof-query";
import { RunSummary } from "./RunSummary";

/** Which run it is, the line of truth, and where to go from here. */
export function RunHead({
  detail,
  head,
  proof,
}: {
  detail: Schemas["RunDetail"];
  head: RunFigures;
  proof: ProofQuery;
}) {
  const { run } = detail;
  return (
    <header className="column">
      <div className="row wrap apart">
        <div className="row wrap grow">
          <Link href={to.job(run.job)} className="job-name">
            <Name of={run.job.name} title={`${run.job.namespace} ${run.job.name}`} />
          </Link>
          <span className="dim row">
            <Name of={run.job.namespace} />
          </span>
        </div>
        <Actions run={run} />
      </div>
      <RunSummary run={run} head={head} proof={proof} certificates={detail.certificates.length} />
      <div className="row wrap dim facts">
        <span className="row">
          Run <Name of={run.run_id} />
          <Copy text={run.run_id} word="Copy id" />
        </span>
        {run.started_at && <span>started {exactTime(run.started_at)}</span>}
        {run.nominal_start && <span>for {exactTime(run.nominal_start)}</span>}
        {run.parent_run_id && <Link href={to.run(run.parent_run_id)}>Parent run</Link>}
      </div>
    </header>
  );
}

function Actions({ run }: { run: Schemas["Run"] }) {
  const before = useQuery(runBefore(run));
  return (
    <nav className="row wrap" aria-label="This run">
      {before.data && (
        <Link href={to.diff(before.data.run_id, run.run_id)} className="button">
          Compare with previous run
        </Link>
      )}
      <a
        className="button"
        href={`${ROOT}/api/v1/runs/${encodeURIComponent(run.run_id)}/report`}
        target="_blank"
        rel="noreferrer"
      >
        <Icon name="file" />
        Report
      </a>
      <a className="button" href={bundlePath(run.run_id)} download="run.bundle.json">
        <Icon name="down" />
        Evidence
      </a>
    </nav>
  );
}

function runBefore(run: Schemas["Run"]) {
  return {
    queryKey: ["lineage", "run before", run.run_id],
    queryFn: async () => {
      const query = {
        job: run.job.name,
        namespace: run.job.namespace,
        until: run.started_at ?? run.last_event_at,
        limit: 10,
      };
      const { items } = await responseData(client.GET("/api/v1/runs", { params: { query } }));
      return items.find((one) => one.run_id !== run.run_id && startOf(one) < startOf(run)) ?? null;
    },
  };
}

function startOf(run: Schemas["Run"]): number {
  return Date.parse(run.started_at ?? run.last_event_at);
}
