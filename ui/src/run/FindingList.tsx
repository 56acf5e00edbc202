import type { ReactNode } from "react";
import { Badge } from "../parts/Badge";
import { Name } from "../parts/Name";
import { type Facets, text } from "./facets";
import { LongText } from "./LongText";

export const MOST = 100; // findings of one kind that are shown

export function FindingCard({ title, verdict, children }: { title: string; verdict: ReactNode; children?: ReactNode }) {
  return (
    <section className="card column" aria-label={title}>
      <h2>{title}</h2>
      <div className="row wrap">{verdict}</div>
      {children}
    </section>
  );
}

export const NOT_CHECKED = <Badge tone="dim" icon="unknown" word="not checked" />;

/** A finding in the words it came with. */
export function FindingList({ of }: { of: Facets[] }) {
  if (of.length === 0) return null;
  return (
    <ul className="plain lines">
      {of.slice(0, MOST).map((one) => (
        <li key={JSON.stringify(one)}>
          <div className="row wrap">
            <Name of={text(one.node) ?? text(one.column) ?? "a step"} />
            {text(one.check) && <span className="dim">{text(one.check)}</span>}
            {one.holds === false && <Badge tone="bad" icon="cross" word="does not hold" />}
            {one.holds === true && <Badge tone="good" icon="check" word="holds" />}
          </div>
          {text(one.on) && (
            <code>
              <LongText of={text(one.on) ?? ""} />
            </code>
          )}
          {text(one.detail) && (
            <div className="dim">
              <LongText of={text(one.detail) ?? ""} />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
