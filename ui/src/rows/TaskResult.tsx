import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import { ErrorMessage, QueryResult } from "../parts/QueryResult";
import { TaskProgress } from "../parts/TaskProgress";
import { ForwardResult } from "./ForwardResult";
import { type RowAvailability, type TracedRows as TracedAnswer, taskResult } from "./queries";
import type { Question } from "./question";
import type { Go } from "./Rows";
import { TraceResult } from "./TraceResult";
import { WhyNotResult } from "./WhyNotResult";
import type { WhyNotAnswer } from "./why";

/** What Spark finds, once it has. */
export function TaskResult({
  question,
  task,
  can,
  go,
  again,
}: {
  question: Question;
  task: string;
  can: RowAvailability;
  go: Go;
  again: () => void;
}) {
  return (
    <TaskProgress id={task} doing="Running on Spark" again={again}>
      {({ id }) => <Result question={question} task={id} can={can} go={go} />}
    </TaskProgress>
  );
}

function Result({ question, task, can, go }: { question: Question; task: string; can: RowAvailability; go: Go }) {
  const taskQuery = useQuery(taskResult(task));
  return (
    <QueryResult of={taskQuery}>
      {({ kind, result }) => {
        if (kind === "rows.trace")
          return <TraceResult answer={result as TracedAnswer} question={question} can={can} go={go} />;
        if (kind === "rows.forward") {
          return <ForwardResult answer={result as Schemas["ForwardRows"]} dataset={question.dataset} />;
        }
        if (kind === "rows.why_not") return <WhyNotResult answer={result as WhyNotAnswer} question={question} />;
        return <ErrorMessage error={new Error(`The task has an unexpected kind: ${kind}.`)} />;
      }}
    </QueryResult>
  );
}
