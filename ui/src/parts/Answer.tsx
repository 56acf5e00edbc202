import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Trouble } from "../api/client";

/** What came of a question: the answer, or that it is awaited, or what is wrong, with a way to ask again. */
export function Answer<T>({
  of,
  lines = 4,
  children,
}: {
  of: UseQueryResult<T>;
  lines?: number;
  children: (data: T) => ReactNode;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <Wrong error={of.error} again={() => of.refetch()} />;
  return <Skeleton lines={lines} />;
}

const WIDTHS = ["92%", "70%", "84%", "58%", "76%", "64%"];

/** Shown after 300 ms: what is quicker needs no sign. */
export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike and stay in place
        <span key={line} style={{ width: WIDTHS[line % WIDTHS.length] }} />
      ))}
    </div>
  );
}

export function Wrong({ error, again }: { error: unknown; again?: () => void }) {
  const told = error instanceof Trouble ? error : null;
  return (
    <div className="trouble" role="alert">
      <div>{error instanceof Error ? error.message : String(error)}</div>
      {told?.requestId && <div className="dim mono">request {told.requestId}</div>}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return <div className="empty">{children}</div>;
}
