import { ago, exact } from "./words";

/** How long ago; the exact moment on hover. */
export function When({ at }: { at: string | null | undefined }) {
  if (!at) return <span className="dim">–</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {ago(at)}
    </time>
  );
}
