import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { to } from "../app/addresses";
import { Badge } from "../parts/Badge";
import { Copy } from "../parts/Copy";
import { exactTime } from "../parts/format";
import { Name } from "../parts/Name";
import { asText } from "./facets";
import { LongText } from "./LongText";

type Certificate = Schemas["Certificate"];

/** What was certified of the run, the newest first. */
export function Certificates({ of }: { of: Certificate[] }) {
  const newestFirst = [...of].sort((one, other) => other.seq - one.seq);
  return (
    <section className="card column" aria-label="Certificate">
      <h2>{newestFirst.length > 1 ? `${newestFirst.length} certificates` : "Certificate"}</h2>
      {newestFirst.length === 0 && (
        <p className="dim">No certificate: the run ended without a manifest, or has not ended yet.</p>
      )}
      {newestFirst.map((one, at) =>
        at === 0 ? <CertificateDetails key={one.seq} of={one} /> : <OlderCertificate key={one.seq} of={one} />,
      )}
    </section>
  );
}

function OlderCertificate({ of }: { of: Certificate }) {
  return (
    <details>
      <summary>
        Number {of.number}, {exactTime(of.issued_at)}, replaced
      </summary>
      <CertificateDetails of={of} />
    </details>
  );
}

function CertificateDetails({ of }: { of: Certificate }) {
  return (
    <div className="column">
      {of.invariants.length + of.undecided.length === 0 && (
        <p className="dim">The certificate states its hashes only.</p>
      )}
      <ul className="plain claims" aria-label="Invariants">
        {of.invariants.map((one) => (
          <li key={one.name}>
            <Badge
              tone={one.holds ? "good" : one.breach === "IMMATERIAL" ? "warn" : "bad"}
              icon={one.holds ? "check" : "cross"}
              word={`${one.name} ${one.holds ? "holds" : "does not hold"}`}
            />
            {one.breach && <span className="tag">{one.breach.toLowerCase()}</span>}
            {one.threshold !== null && <span className="dim">required: {asText(one.threshold)}</span>}
            {one.detail && (
              <span className="dim">
                <LongText of={one.detail} />
              </span>
            )}
          </li>
        ))}
        {of.undecided.map((one) => (
          <li key={one.name}>
            <Badge tone="warn" icon="unknown" word={`${one.name} is undecided`} />
            {one.detail && (
              <span className="dim">
                <LongText of={one.detail} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <dl className="facts-list">
        <dt>Number</dt>
        <dd>
          {of.number} of <Name of={of.namespace} />, issued {exactTime(of.issued_at)}
        </dd>
        <dt>Hash</dt>
        <dd className="row">
          <Name of={of.hash} />
          <Copy text={of.hash} />
        </dd>
        <dt>Previous</dt>
        <dd>
          {of.previous_certificate_hash === null ? (
            "none: first certificate"
          ) : (
            <Name of={of.previous_certificate_hash} />
          )}
        </dd>
        <dt>Log entry</dt>
        <dd>
          <Link href={to.audit({ resource: of.run_id })}>entry {of.seq}</Link>
        </dd>
      </dl>
    </div>
  );
}
