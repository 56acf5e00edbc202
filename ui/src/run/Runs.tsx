import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { client, responseData, type Schemas } from "../api/client";
import { sameName, to } from "../app/addresses";
import { countOf } from "../parts/format";
import { Empty, ErrorMessage, Skeleton } from "../parts/QueryResult";
import { ShowMore } from "../parts/ShowMore";
import { Filters } from "./Filters";
import { chronological, type Filter, filterIn, sinceMoment } from "./filters";
import { RunTable } from "./RunTable";
import "./run.css";

type Run = Schemas["Run"];
const PAGE = 50;

/** What ran, the newest first; two runs of a job can be compared. */
export default function Runs() {
  const [params] = useSearchParams();
  const filter = filterIn(params);
  const runPages = useInfiniteQuery({
    queryKey: ["lineage", "runs", filter],
    queryFn: ({ pageParam }) => fetchPage(filter, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  });
  const [picked, setPicked] = useState<Run[]>([]);
  const runs = runPages.data?.pages.flatMap((one) => one.items) ?? [];
  const pick = (run: Run) =>
    setPicked((before) => {
      if (before.some((one) => one.run_id === run.run_id)) return before.filter((one) => one.run_id !== run.run_id);
      // Runs of different jobs are not compared: the selection restarts.
      const sameJob = before.filter((one) => sameName(one.job, run.job)).slice(-1);
      return [...sameJob, run];
    });
  return (
    <div className="sheet run-view">
      <div className="row apart wrap">
        <h1>Runs</h1>
        <Compare picked={picked} />
      </div>
      <Filters of={filter} />
      {runPages.isPending && <Skeleton lines={8} />}
      {runPages.error && <ErrorMessage error={runPages.error} again={() => runPages.refetch()} />}
      {runPages.data && runs.length === 0 && <NoRuns filter={filter} />}
      {runs.length > 0 && <RunTable runs={runs} picked={picked} pick={pick} />}
      <div>
        <ShowMore of={runPages} />
      </div>
      {runPages.data && !runPages.hasNextPage && runs.length > 0 && (
        <p className="dim">{countOf(runs.length, "run")}.</p>
      )}
    </div>
  );
}

function fetchPage(filter: Filter, cursor: string | null) {
  const since = filter.since === null ? null : sinceMoment(filter.since, Date.now());
  const { state, job, namespace, dataset, datasetNamespace: dataset_namespace } = filter;
  const query = { state, job, namespace, dataset, dataset_namespace, since, cursor, limit: PAGE };
  const presentFilters = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== null));
  return responseData(client.GET("/api/v1/runs", { params: { query: presentFilters } }));
}

function Compare({ picked }: { picked: Run[] }) {
  const [one, other] = picked;
  return (
    <div className="row" aria-live="polite">
      {one && other ? (
        <Link href={to.diff(...chronological(one, other))} className="button first">
          Compare runs
        </Link>
      ) : (
        <span className="dim">
          {one ? "Select another run of the same job to compare" : "Select two runs of a job to compare"}
        </span>
      )}
    </div>
  );
}

function NoRuns({ filter }: { filter: Filter }) {
  const filtered = Object.values(filter).some((value) => value !== null);
  return (
    <Empty>
      {filtered ? (
        <>
          No run matches these filters. <Link href={to.runs()}>Show all runs</Link>
        </>
      ) : (
        <>
          No runs yet. Call <code>hw.enable(spark)</code> in a PySpark job to capture its runs, or send OpenLineage
          events to the server.
        </>
      )}
    </Empty>
  );
}
