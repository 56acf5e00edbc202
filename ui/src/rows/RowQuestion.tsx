import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { ApiError } from "../api/client";
import { session } from "../api/queries";
import { Empty, ErrorMessage, Skeleton } from "../parts/QueryResult";
import { Condition } from "./Condition";
import { QuestionPicker, questionOptions } from "./QuestionPicker";
import { isInstant, pairTableTrace, type RowAnswer, type RowAvailability, submitToSpark } from "./queries";
import type { Question } from "./question";
import type { Go } from "./Rows";
import { TaskResult } from "./TaskResult";
import { TraceResult } from "./TraceResult";

/** The question and its answer. What pair tables know is answered at once; Spark is started by the reader alone. */
export function RowQuestion({ question, can, go }: { question: Question; can: RowAvailability; go: Go }) {
  const who = useQuery(session);
  const admin = who.data?.scopes.includes("admin") ?? false;
  const ways = questionOptions(can);
  const ask = question.ask ?? (ways.find((way) => way.possible)?.ask || "trace");
  const currentQuestion = { ...question, ask };
  const possible = ways.find((way) => way.ask === ask)?.possible ?? false;
  const instant = ask === "trace" && question.task === null && isInstant(can, question.condition);
  const tables = useQuery({ ...pairTableTrace(question.dataset, question.condition), enabled: instant });
  const spark = useMutation({ mutationFn: submitToSpark });
  // What was refused was the question before.
  const { reset } = spark;
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the question is another
  useEffect(reset, [ask, question.condition, question.source?.name, question.task]);
  // Were the tables gone since, it was put to Spark.
  const instead = tables.data?.task?.id;
  useEffect(() => {
    if (instead) go({ ...question, task: instead }, { replace: true });
  }, [instead, go, question]);

  const submit = (next: Question) => {
    spark.reset();
    const nextQuestion = { ...next, ask, task: null, open: [] };
    // Pair tables may answer after all: then the same question finds that answer at once.
    const onSuccess = ({ task }: RowAnswer) => go({ ...nextQuestion, task: task?.id ?? null });
    if (ask !== "trace" || !isInstant(can, nextQuestion.condition)) spark.mutate(nextQuestion, { onSuccess });
    else if (instant && nextQuestion.condition === question.condition) tables.refetch();
    else go(nextQuestion);
  };
  const error = spark.error ?? (instant ? tables.error : null);
  const refused = error instanceof ApiError && error.code === "condition_refused" ? error.message : null;
  return (
    <>
      <QuestionPicker
        ways={ways}
        chosen={ask}
        choose={(next) => go({ ...question, ask: next, task: null, open: [] })}
      />
      {possible && (
        <Condition
          question={currentQuestion}
          can={can}
          admin={admin}
          refused={refused}
          busy={spark.isPending}
          put={submit}
        />
      )}
      {error !== null && refused === null && <ErrorMessage error={error} />}
      {question.task !== null ? (
        <TaskResult
          question={currentQuestion}
          task={question.task}
          can={can}
          go={go}
          again={() => submit(currentQuestion)}
        />
      ) : instant && tables.data?.traced ? (
        <TraceResult answer={tables.data.traced} question={currentQuestion} can={can} go={go} />
      ) : instant && error === null ? (
        <Skeleton lines={6} />
      ) : null}
      {ways.every((way) => !way.possible) && (
        <Empty>
          No row data was stored for this dataset. A job that runs with <code>rows="key"</code> stores its query, which
          Spark runs again to answer row queries; one with <code>rows="full"</code> also stores pair tables, which
          answer immediately.
        </Empty>
      )}
    </>
  );
}
