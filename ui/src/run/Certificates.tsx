import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { to } from "../app/places";
import { Copy } from "../parts/Copy";
import { Name } from "../parts/Name";
import { Mark } from "../parts/State";
import { exact } from "../parts/words";
import { inWords } from "./facets";
import { Long } from "./Long";

type Certificate = Schemas["Certificate"];

/** What was certified of the run, the newest first. */
export function Certificates({ of }: { of: Certificate[] }) {
  const found = [...of].sort((one, other) => other.seq - one.seq);
  return (
    <section className="card column" aria-label="Certificate">
      <h2>{found.length > 1 ? `${found.length} certificates` : "Certificate"}</h2>
      {found.length === 0 && (
        <p className="dim">None was issued: the run ended without a manifest, or has not ended yet.</p>
      )}
      {found.map((one, at) => (at === 0 ? <One key={one.seq} of={one} /> : <Older key={one.seq} of={one} />))}
    </section>
  );
}

function Older({ of }: { of: Certificate }) {
  return (
    <details>
      <summary>
        Number {of.number}, {exact(of.issued_at)}, which was replaced
      </summary>
      <One of={of} />
    </details>
  );
}

function One({ of }: { of: Certificate }) {
  return (
    <div className="column">
      {of.invariants.length + of.undecided.length === 0 && <p className="dim">It claims nothing but its hashes.</p>}
      <ul className="plain claims" aria-label="What is claimed">
        {of.invariants.map((one) => (
          <li key={one.name}>
            <Mark
              tone={one.holds ? "good" : one.breach === "IMMATERIAL" ? "warn" : "bad"}
              icon={one.holds ? "check" : "cross"}
              word={`${one.name} ${one.holds ? "holds" : "does not hold"}`}
            />
            {one.breach && <span className="tag">{one.breach.toLowerCase()}</span>}
            {one.threshold !== null && <span className="dim">promised: {inWords(one.threshold)}</span>}
            {one.detail && (
              <span className="dim">
                <Long of={one.detail} />
              </span>
            )}
          </li>
        ))}
        {of.undecided.map((one) => (
          <li key={one.name}>
            <Mark tone="warn" icon="unknown" word={`${one.name} is not decided`} />
            {one.detail && (
              <span className="dim">
                <Long of={one.detail} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <dl className="facts-list">
        <dt>Number</dt>
        <dd>
          {of.number} of <Name of={of.namespace} />, issued {exact(of.issued_at)}
        </dd>
        <dt>Hash</dt>
        <dd className="row">
          <Name of={of.hash} />
          <Copy text={of.hash} />
        </dd>
        <dt>Follows</dt>
        <dd>
          {of.previous_certificate_hash === null ? "none: it is the first" : <Name of={of.previous_certificate_hash} />}
        </dd>
        <dt>In the log</dt>
        <dd>
          <Link href={to.audit({ resource: of.run_id })}>entry {of.seq}</Link>
        </dd>
      </dl>
    </div>
  );
}
