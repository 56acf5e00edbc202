import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import { Answer, Wrong } from "../parts/Answer";
import { TaskProgress } from "../parts/TaskProgress";
import { type Askable, found, type Traced as TracedAnswer } from "./ask";
import { Forwarded } from "./Forwarded";
import type { Question } from "./place";
import type { Go } from "./Rows";
import { Traced } from "./Traced";
import { WhyNot } from "./WhyNot";
import type { WhyNotAnswer } from "./why";

/** What Spark finds, once it has. */
export function Found({
  question,
  task,
  can,
  go,
  again,
}: {
  question: Question;
  task: string;
  can: Askable;
  go: Go;
  again: () => void;
}) {
  return (
    <TaskProgress id={task} doing="Asking Spark" again={again}>
      {({ id }) => <Result question={question} task={id} can={can} go={go} />}
    </TaskProgress>
  );
}

function Result({ question, task, can, go }: { question: Question; task: string; can: Askable; go: Go }) {
  const told = useQuery(found(task));
  return (
    <Answer of={told}>
      {({ kind, result }) => {
        if (kind === "rows.trace")
          return <Traced answer={result as TracedAnswer} question={question} can={can} go={go} />;
        if (kind === "rows.forward") {
          return <Forwarded answer={result as Schemas["ForwardRows"]} dataset={question.dataset} />;
        }
        if (kind === "rows.why_not") return <WhyNot answer={result as WhyNotAnswer} question={question} />;
        return <Wrong error={new Error(`The task is of another kind: ${kind}.`)} />;
      }}
    </Answer>
  );
}
