import { lastSegmentStart } from "./format";

/** A name as text, whatever it holds. Where there is no room, the path before its last segment is cut; the title has all. */
export function Name({ of, title }: { of: string; title?: string }) {
  const start = lastSegmentStart(of);
  return (
    <span className="name" title={(title ?? of).slice(0, 2000)}>
      {start > 0 && (
        <span className="path">
          <bdi dir="ltr">{of.slice(0, start)}</bdi>
        </span>
      )}
      <span className="segment">{of.slice(start)}</span>
    </span>
  );
}
