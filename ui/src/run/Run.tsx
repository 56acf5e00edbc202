import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import type { Schemas } from "../api/client";
import { run } from "../api/questions";
import { to } from "../app/places";
import { Answer, Empty } from "../parts/Answer";
import { Certificates } from "./Certificates";
import { Children } from "./Children";
import { Failure } from "./Failure";
import { Findings } from "./Findings";
import { headOf } from "./head";
import { LedgerView } from "./LedgerView";
import { Logic } from "./Logic";
import { Manifest } from "./Manifest";
import { Proof } from "./Proof";
import { useProof } from "./proving";
import { RunHead } from "./RunHead";
import { Said } from "./Said";
import { Steps } from "./Steps";
import { Uses } from "./Uses";
import "./run.css";

/** One run: what it comes down to, what became of its rows, and whether that is proven. */
export default function Run() {
  const [words] = useSearchParams();
  const id = words.get("id");
  if (!id) {
    return (
      <div className="sheet run-view">
        <h1>No run is named</h1>
        <Empty>
          The address of a run has its id in it. <Link href={to.runs()}>All runs</Link>
        </Empty>
      </div>
    );
  }
  return <OneRun key={id} id={id} />;
}

function OneRun({ id }: { id: string }) {
  const asked = useQuery(run(id));
  return (
    <div className="sheet run-view">
      <Answer of={asked} lines={8}>
        {(detail) => <Told detail={detail} />}
      </Answer>
    </div>
  );
}

function Told({ detail }: { detail: Schemas["RunDetail"] }) {
  const proof = useProof(detail);
  const head = headOf(detail);
  return (
    <>
      <RunHead detail={detail} head={head} proof={proof} />
      <Failure detail={detail} />
      <LedgerView detail={detail} ledger={head.ledger} />
      {detail.children.length > 0 && <Children of={detail} />}
      <Steps detail={detail} />
      <Uses detail={detail} />
      <Findings detail={detail} />
      <Certificates of={detail.certificates} />
      <Proof proof={proof} />
      <Logic detail={detail} />
      <Manifest facets={detail.run_facets} />
      <Said detail={detail} />
    </>
  );
}
