import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import type { Schemas } from "../api/client";
import { run } from "../api/queries";
import { to } from "../app/addresses";
import { Empty, QueryResult } from "../parts/QueryResult";
import { Certificates } from "./Certificates";
import { ChildRuns } from "./ChildRuns";
import { DatasetUses } from "./DatasetUses";
import { Failure } from "./Failure";
import { Findings } from "./Findings";
import { runFigures } from "./figures";
import { JobCode } from "./JobCode";
import { LedgerView } from "./LedgerView";
import { Manifest } from "./Manifest";
import { Proof } from "./Proof";
import { useProof } from "./proof-query";
import { RawFacets } from "./RawFacets";
import { RunHead } from "./RunHead";
import { Steps } from "./Steps";
import "./run.css";

/** One run: what it comes down to, what became of its rows, and whether that is proven. */
export default function Run() {
  const [params] = useSearchParams();
  const id = params.get("id");
  if (!id) {
    return (
      <div className="sheet run-view">
        <h1>No run selected</h1>
        <Empty>
          The address of a run contains its id. <Link href={to.runs()}>All runs</Link>
        </Empty>
      </div>
    );
  }
  return <RunById key={id} id={id} />;
}

function RunById({ id }: { id: string }) {
  const detailQuery = useQuery(run(id));
  return (
    <div className="sheet run-view">
      <QueryResult of={detailQuery} lines={8}>
        {(detail) => <RunDetails detail={detail} />}
      </QueryResult>
    </div>
  );
}

function RunDetails({ detail }: { detail: Schemas["RunDetail"] }) {
  const proof = useProof(detail);
  const head = runFigures(detail);
  return (
    <>
      <RunHead detail={detail} head={head} proof={proof} />
      <Failure detail={detail} />
      <LedgerView detail={detail} ledger={head.ledger} />
      {detail.children.length > 0 && <ChildRuns of={detail} />}
      <Steps detail={detail} />
      <DatasetUses detail={detail} />
      <Findings detail={detail} />
      <Certificates of={detail.certificates} />
      <Proof proof={proof} />
      <JobCode detail={detail} />
      <Manifest facets={detail.run_facets} />
      <RawFacets detail={detail} />
    </>
  );
}
