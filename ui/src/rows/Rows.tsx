import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { nameKey, to } from "../app/addresses";
import { Name } from "../parts/Name";
import { Empty, QueryResult } from "../parts/QueryResult";
import { rowAvailability } from "./queries";
import { type Question, questionParams, readQuestion } from "./question";
import { RowQuestion } from "./RowQuestion";
import "./rows.css";

/** Goes to another question: a step of the reader's, that the back button takes back, unless it only replaces. */
export type Go = (question: Question, options?: { replace?: boolean }) => void;

/** Where rows came from, what they became, why they are missing. */
export default function Rows() {
  const [searchParams] = useSearchParams();
  const question = readQuestion(searchParams);
  if (question === null) {
    return (
      <div className="sheet">
        <h1>Rows</h1>
        <Empty>
          Row queries start from a dataset. <Link href={to.home()}>Choose a dataset</Link> and select “Trace rows”
          there.
        </Empty>
      </div>
    );
  }
  return <RowsOfDataset key={nameKey(question.dataset)} question={question} />;
}

function RowsOfDataset({ question }: { question: Question }) {
  const [, navigate] = useLocation();
  const go: Go = useCallback(
    (next, options = {}) => navigate(to.rows(next.dataset, questionParams(next)), options),
    [navigate],
  );
  const can = useQuery(rowAvailability(question.dataset));
  return (
    <div className="sheet rows-view">
      <header className="column tight">
        <h1 className="row">
          <span className="heading-prefix">Rows of</span> <Name of={question.dataset.name} />
        </h1>
        <div className="row wrap dim">
          <Name of={question.dataset.namespace} />
          <Link href={to.explore(question.dataset)}>Explore</Link>
          {can.data?.run_id && <Link href={to.run(can.data.run_id)}>Run that wrote these rows</Link>}
        </div>
      </header>
      <QueryResult of={can} lines={6}>
        {(availability) => <RowQuestion question={question} can={availability} go={go} />}
      </QueryResult>
    </div>
  );
}
