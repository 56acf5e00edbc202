import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../api/client";

/** The result of a query: its data, a skeleton while it loads, or its error with a button to retry. */
export function QueryResult<T>({
  of,
  lines = 4,
  children,
}: {
  of: UseQueryResult<T>;
  lines?: number;
  children: (data: T) => ReactNode;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <ErrorMessage error={of.error} again={() => of.refetch()} />;
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

export function ErrorMessage({ error, again }: { error: unknown; again?: () => void }) {
  const apiError = error instanceof ApiError ? error : null;
  return (
    <div className="error-message" role="alert">
      <div>{error instanceof Error ? error.message : String(error)}</div>
      {apiError?.requestId && <div className="dim mono">Request {apiError.requestId}</div>}
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
