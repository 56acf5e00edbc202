import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { answer, client, type Schemas, Trouble } from "../api/client";
import { task } from "../api/questions";
import { Skeleton, Wrong } from "./Answer";
import { Mark } from "./State";
import { duration } from "./words";
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
  const asked = useQuery(task(id));
  if (asked.error instanceof Trouble && asked.error.status === 404) {
    return <Ended words="The server knows nothing of this task any more." again={again} />;
  }
  if (asked.data === undefined) {
    return asked.error ? <Wrong error={asked.error} again={() => asked.refetch()} /> : <Skeleton lines={2} />;
  }
  if (asked.data.state === "running") return <Running task={asked.data} doing={doing} />;
  if (asked.data.state === "cancelled") return <Ended words="It was called off." again={again} />;
  if (asked.data.state === "failed") return <Wrong error={new Error(reason(asked.data))} again={again} />;
  return <>{children(asked.data)}</>;
}

function Running({ task, doing }: { task: Task; doing: string }) {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const [leaving, setLeaving] = useState(false);
  const cancel = async () => {
    setLeaving(true);
    try {
      const path = { task_id: task.id };
      queries.setQueryData(
        ["task", task.id],
        await answer(client.DELETE("/api/v1/tasks/{task_id}", { params: { path } })),
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
          <Mark tone="dim" icon="going" word={doing} />
          <Elapsed since={task.started_at} />
        </span>
        <button type="button" onClick={cancel} disabled={leaving}>
          Cancel
        </button>
      </div>
      {/* Without a value the bar shows that something goes on, not how far. */}
      <progress className="task" aria-label={doing} {...(total > 0 ? { value: done, max: total } : {})} />
      <div className="dim" role="status">
        {text}
      </div>
      <p className="dim">It goes on if you leave; this address leads back to it.</p>
      {error !== null && <Wrong error={error} />}
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
  return <span className="dim">{seconds < 60 ? `${seconds}\u2009s` : duration(seconds * 1000)}</span>;
}

function Ended({ words, again }: { words: string; again: (() => void) | undefined }) {
  return (
    <div className="card row" role="status">
      <Mark tone="warn" icon="stop" word={words} />
      {again && (
        <button type="button" onClick={again}>
          Ask again
        </button>
      )}
    </div>
  );
}

function reason(task: Task): string {
  const told = task.problem?.detail;
  return typeof told === "string" ? told : "The task failed. The server's log says why.";
}
