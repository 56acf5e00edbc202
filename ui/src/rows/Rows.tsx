import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { keyOf, to } from "../app/places";
import { Answer, Empty } from "../parts/Answer";
import { Name } from "../parts/Name";
import { Asking } from "./Asking";
import { askable } from "./ask";
import { type Question, readQuestion, wordsOf } from "./place";
import "./rows.css";

/** Goes to another question: a step of the reader's, that the back button takes back, unless it only replaces. */
export type Go = (question: Question, options?: { replace?: boolean }) => void;

/** Where rows came from, what they became, why they are missing. */
export default function Rows() {
  const [words] = useSearchParams();
  const question = readQuestion(words);
  if (question === null) {
    return (
      <div className="sheet">
        <h1>Rows</h1>
        <Empty>
          Rows are asked about in a dataset. <Link href={to.home()}>Find one</Link>, and choose “Rows” there.
        </Empty>
      </div>
    );
  }
  return <OfDataset key={keyOf(question.dataset)} question={question} />;
}

function OfDataset({ question }: { question: Question }) {
  const [, navigate] = useLocation();
  const go: Go = useCallback(
    (next, options = {}) => navigate(to.rows(next.dataset, wordsOf(next)), options),
    [navigate],
  );
  const can = useQuery(askable(question.dataset));
  return (
    <div className="sheet rows-view">
      <header className="column tight">
        <h1 className="row">
          <span className="still">Rows of</span> <Name of={question.dataset.name} />
        </h1>
        <div className="row wrap dim">
          <Name of={question.dataset.namespace} />
          <Link href={to.explore(question.dataset)}>Explore</Link>
          {can.data?.run_id && <Link href={to.run(can.data.run_id)}>The run that wrote them</Link>}
        </div>
      </header>
      <Answer of={can} lines={6}>
        {(told) => <Asking question={question} can={told} go={go} />}
      </Answer>
    </div>
  );
}
