import { exactTime, timeAgo } from "./format";

/** How long ago; the exact moment on hover. */
export function RelativeTime({ at }: { at: string | null | undefined }) {
  if (!at) return <span className="dim">–</span>;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {timeAgo(at)}
    </time>
  );
}
