import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { Trouble } from "../api/client";
import { session } from "../api/questions";
import { Empty, Skeleton, Wrong } from "../parts/Answer";
import { type Askable, type Asked, askSpark, instantly, isInstant } from "./ask";
import { Choice, waysOf } from "./Choice";
import { Condition } from "./Condition";
import { Found } from "./Found";
import type { Question } from "./place";
import type { Go } from "./Rows";
import { Traced } from "./Traced";

/** The question and its answer. What pair tables know is answered at once; Spark is started by the reader alone. */
export function Asking({ question, can, go }: { question: Question; can: Askable; go: Go }) {
  const who = useQuery(session);
  const admin = who.data?.scopes.includes("admin") ?? false;
  const ways = waysOf(can);
  const ask = question.ask ?? (ways.find((way) => way.possible)?.ask || "trace");
  const asked = { ...question, ask };
  const possible = ways.find((way) => way.ask === ask)?.possible ?? false;
  const instant = ask === "trace" && question.task === null && isInstant(can, question.condition);
  const tables = useQuery({ ...instantly(question.dataset, question.condition), enabled: instant });
  const spark = useMutation({ mutationFn: askSpark });
  // What was refused was the question before.
  const { reset } = spark;
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the question is another
  useEffect(reset, [ask, question.condition, question.source?.name, question.task]);
  // Were the tables gone since, it was put to Spark.
  const instead = tables.data?.task?.id;
  useEffect(() => {
    if (instead) go({ ...question, task: instead }, { replace: true });
  }, [instead, go, question]);

  const put = (next: Question) => {
    spark.reset();
    const meant = { ...next, ask, task: null, open: [] };
    // Pair tables may answer after all: then the same question finds that answer at once.
    const onSuccess = ({ task }: Asked) => go({ ...meant, task: task?.id ?? null });
    if (ask !== "trace" || !isInstant(can, meant.condition)) spark.mutate(meant, { onSuccess });
    else if (instant && meant.condition === question.condition) tables.refetch();
    else go(meant);
  };
  const error = spark.error ?? (instant ? tables.error : null);
  const refused = error instanceof Trouble && error.code === "condition_refused" ? error.message : null;
  return (
    <>
      <Choice ways={ways} chosen={ask} choose={(next) => go({ ...question, ask: next, task: null, open: [] })} />
      {possible && (
        <Condition question={asked} can={can} admin={admin} refused={refused} busy={spark.isPending} put={put} />
      )}
      {error !== null && refused === null && <Wrong error={error} />}
      {question.task !== null ? (
        <Found question={asked} task={question.task} can={can} go={go} again={() => put(asked)} />
      ) : instant && tables.data?.traced ? (
        <Traced answer={tables.data.traced} question={asked} can={can} go={go} />
      ) : instant && error === null ? (
        <Skeleton lines={6} />
      ) : null}
      {ways.every((way) => !way.possible) && (
        <Empty>
          Nothing can be asked of these rows. A job that runs with <code>rows="key"</code> keeps what Spark needs to
          answer, one with <code>rows="full"</code> pair tables, which answer at once.
        </Empty>
      )}
    </>
  );
}
