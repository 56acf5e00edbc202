import { useState } from "react";
import type { Schemas } from "../api/client";
import { Copy } from "../parts/Copy";
import { countOf } from "../parts/format";
import { Icon } from "../parts/icons";

const MOST = 20_000; // characters of one facet that are shown; all are copied

/** All facets of the run and its job as received, and the parts of its events that could not be read. */
export function RawFacets({ detail }: { detail: Schemas["RunDetail"] }) {
  const facets = [
    ...Object.entries(detail.run_facets).map(([name, value]) => [name, "run", value] as const),
    ...Object.entries(detail.job_facets).map(([name, value]) => [name, "job", value] as const),
  ];
  return (
    <section className="card column" aria-label="Raw facets">
      <h2>
        Raw facets <span className="dim">{countOf(detail.event_count, "event")}</span>
      </h2>
      {detail.problems.length > 0 && (
        <ul className="plain notes" aria-label="Unreadable parts">
          {detail.problems.map((one) => (
            <li key={`${one.path} ${one.reason}`} className="row start warn">
              <Icon name="alert" />
              <span className="ink breaks">
                <code>{one.path}</code> {one.reason}
              </span>
            </li>
          ))}
        </ul>
      )}
      {facets.map(([name, of, value]) => (
        <Facet key={`${of} ${name}`} name={name} of={of} value={value} />
      ))}
    </section>
  );
}

function Facet({ name, of, value }: { name: string; of: string; value: unknown }) {
  const [open, setOpen] = useState(false);
  const text = open ? JSON.stringify(value, null, 2) : "";
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="mono breaks">{name}</span> <span className="dim">of the {of}</span>
      </summary>
      {open && (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
          <pre className="block" tabIndex={0}>
            {text.slice(0, MOST)}
            {text.length > MOST && "\n…"}
          </pre>
          <Copy text={text} word="Copy JSON" />
        </>
      )}
    </details>
  );
}
