import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError, client, responseData, type Schemas } from "../api/client";
import { task } from "../api/queries";
import { Badge } from "./Badge";
import { formatDuration } from "./format";
import { ErrorMessage, Skeleton } from "./QueryResult";
import "./task.css";

type Task = Schemas["Task"];

/** Work that takes longer than a moment: how far it is, and at its end what came of it. It goes on when the reader
 * leaves, and is found again by its id. */
export function TaskProgress({
  id,
  doing,
  again,
  children,
}: {
  id: string;
  /** What is being done, to be read before the bar. */
  doing: string;
  again?: () => void;
  children: (task: Task) => ReactNode;
}) {
  const taskQuery = useQuery(task(id));
  if (taskQuery.error instanceof ApiError && taskQuery.error.status === 404) {
    return <EndedTask words="The server no longer has this task." again={again} />;
  }
  if (taskQuery.data === undefined) {
    return taskQuery.error ? (
      <ErrorMessage error={taskQuery.error} again={() => taskQuery.refetch()} />
    ) : (
      <Skeleton lines={2} />
    );
  }
  if (taskQuery.data.state === "running") return <RunningTask task={taskQuery.data} doing={doing} />;
  if (taskQuery.data.state === "cancelled") return <EndedTask words="The task was cancelled." again={again} />;
  if (taskQuery.data.state === "failed")
    return <ErrorMessage error={new Error(failureReason(taskQuery.data))} again={again} />;
  return <>{children(taskQuery.data)}</>;
}

function RunningTask({ task, doing }: { task: Task; doing: string }) {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const [leaving, setLeaving] = useState(false);
  const cancel = async () => {
    setLeaving(true);
    try {
      const path = { task_id: task.id };
      queries.setQueryData(
        ["task", task.id],
        await responseData(client.DELETE("/api/v1/tasks/{task_id}", { params: { path } })),
      );
    } catch (problem) {
      setError(problem);
      setLeaving(false);
    }
  };
  const { done, total, text } = task.progress ?? { done: 0, total: 0, text: "Waiting to start" };
  return (
    <section className="card column" aria-label={doing}>
      <div className="row apart">
        <span className="row">
          <Badge tone="dim" icon="going" word={doing} />
          <Elapsed since={task.started_at} />
        </span>
        <button type="button" onClick={cancel} disabled={leaving}>
          Cancel
        </button>
      </div>
      {/* Without a value the bar is indeterminate. */}
      <progress className="task" aria-label={doing} {...(total > 0 ? { value: done, max: total } : {})} />
      <div className="dim" role="status">
        {text}
      </div>
      <p className="dim">The task continues if you leave this page; the address leads back to it.</p>
      {error !== null && <ErrorMessage error={error} />}
    </section>
  );
}

function Elapsed({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const ticking = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(ticking);
  }, []);
  // The server's clock may be ahead of ours.
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1000));
  return <span className="dim">{seconds < 60 ? `${seconds}\u2009s` : formatDuration(seconds * 1000)}</span>;
}

function EndedTask({ words, again }: { words: string; again: (() => void) | undefined }) {
  return (
    <div className="card row" role="status">
      <Badge tone="warn" icon="stop" word={words} />
      {again && (
        <button type="button" onClick={again}>
          Start again
        </button>
      )}
    </div>
  );
}

function failureReason(task: Task): string {
  const detail = task.problem?.detail;
  return typeof detail === "string" ? detail : "The task failed. The server's log says why.";
}
