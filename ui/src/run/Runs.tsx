import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { answer, client, type Schemas } from "../api/client";
import { sameName, to } from "../app/places";
import { Empty, Skeleton, Wrong } from "../parts/Answer";
import { ShowMore } from "../parts/ShowMore";
import { counted } from "../parts/words";
import { Filters } from "./Filters";
import { type Filter, filterIn, inOrder, sinceMoment } from "./filters";
import { RunTable } from "./RunTable";
import "./run.css";

type Run = Schemas["Run"];
const PAGE = 50;

/** What ran, the newest first; two runs of a job can be compared. */
export default function Runs() {
  const [words] = useSearchParams();
  const filter = filterIn(words);
  const asked = useInfiniteQuery({
    queryKey: ["lineage", "runs", filter],
    queryFn: ({ pageParam }) => page(filter, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  });
  const [picked, setPicked] = useState<Run[]>([]);
  const runs = asked.data?.pages.flatMap((one) => one.items) ?? [];
  const pick = (run: Run) =>
    setPicked((before) => {
      if (before.some((one) => one.run_id === run.run_id)) return before.filter((one) => one.run_id !== run.run_id);
      // Of another job there is nothing to compare: the choice begins anew.
      const kept = before.filter((one) => sameName(one.job, run.job)).slice(-1);
      return [...kept, run];
    });
  return (
    <div className="sheet run-view">
      <div className="row apart wrap">
        <h1>Runs</h1>
        <Compare picked={picked} />
      </div>
      <Filters of={filter} />
      {asked.isPending && <Skeleton lines={8} />}
      {asked.error && <Wrong error={asked.error} again={() => asked.refetch()} />}
      {asked.data && runs.length === 0 && <None filter={filter} />}
      {runs.length > 0 && <RunTable runs={runs} picked={picked} pick={pick} />}
      <div>
        <ShowMore of={asked} />
      </div>
      {asked.data && !asked.hasNextPage && runs.length > 0 && (
        <p className="dim">{counted(runs.length, "run")}, all shown.</p>
      )}
    </div>
  );
}

function page(filter: Filter, cursor: string | null) {
  const since = filter.since === null ? null : sinceMoment(filter.since, Date.now());
  const { state, job, namespace, dataset, datasetNamespace: dataset_namespace } = filter;
  const query = { state, job, namespace, dataset, dataset_namespace, since, cursor, limit: PAGE };
  const told = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== null));
  return answer(client.GET("/api/v1/runs", { params: { query: told } }));
}

function Compare({ picked }: { picked: Run[] }) {
  const [one, other] = picked;
  return (
    <div className="row" aria-live="polite">
      {one && other ? (
        <Link href={to.diff(...inOrder(one, other))} className="button first">
          Compare the two
        </Link>
      ) : (
        <span className="dim">
          {one ? "Pick another run of the same job to compare" : "Pick two runs of a job to compare them"}
        </span>
      )}
    </div>
  );
}

function None({ filter }: { filter: Filter }) {
  const filtered = Object.values(filter).some((value) => value !== null);
  return (
    <Empty>
      {filtered ? (
        <>
          No run fits. <Link href={to.runs()}>Show all runs</Link>
        </>
      ) : (
        <>
          Nothing ran yet that was told of. <code>hw.enable(spark)</code> has Spark tell of every write.
        </>
      )}
    </Empty>
  );
}
