import { ending } from "./words";

/** A name as text, whatever it holds: cut in its middle where there is no room, whole on hover and when copied. */
export function Name({ of, title }: { of: string; title?: string }) {
  const cut = ending(of);
  return (
    <span className="name" title={(title ?? of).slice(0, 2000)}>
      <span className="head">{of.slice(0, cut)}</span>
      <span className="tail">{of.slice(cut)}</span>
    </span>
  );
}
