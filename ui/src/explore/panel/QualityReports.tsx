import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { quality } from "../../api/queries";
import { to } from "../../app/addresses";
import type { Endpoint } from "../../graph/names";
import { Badge } from "../../parts/Badge";
import { countOf, formatNumber } from "../../parts/format";
import { Empty, QueryResult } from "../../parts/QueryResult";
import { RelativeTime } from "../../parts/RelativeTime";

type Statement = Schemas["QualityStatement"];
type Report = Schemas["QualityReport"];

const METRICS = ["completeness", "accuracy", "consistency", "timeliness"] as const;
const MOST = 200;

/** Its quality by rules: the newest word on it whole, and when there were others. */
export function QualityReports({ of }: { of: Endpoint }) {
  const reports = useQuery(quality(of));
  return (
    <QueryResult of={reports} lines={4}>
      {({ items: [newest, ...older] }) =>
        newest === undefined ? (
          <Empty>No quality rules have been run on this dataset.</Empty>
        ) : (
          <section className="column" aria-label="Quality report">
            <Heading of={newest} />
            <MetricTable of={newest.report.metrics} />
            {newest.report.validations.length > 0 && <Validations of={newest.report.validations} />}
            {newest.report.anomalies.length > 0 && <Anomalies of={newest.report.anomalies} />}
            {older.length > 0 && <EarlierReports of={older} />}
          </section>
        )
      }
    </QueryResult>
  );
}

function Heading({ of }: { of: Statement }) {
  const { version } = of;
  return (
    <>
      <h2>
        Quality, {of.basis} <RelativeTime at={momentOf(of)} />
      </h2>
      <dl className="facts">
        {of.report.rows !== null && (
          <>
            <dt>Rows</dt>
            <dd>{formatNumber(of.report.rows)}</dd>
          </>
        )}
        {of.run_id && (
          <>
            <dt>By</dt>
            <dd>
              <Link href={to.run(of.run_id)}>{of.job?.name.slice(0, 120) ?? "a run"}</Link>
            </dd>
          </>
        )}
        {version && (
          <>
            <dt>Version</dt>
            <dd>
              {version.run_id === null ? (
                <RelativeTime at={version.written_at} />
              ) : (
                <Link href={to.run(version.run_id)}>
                  <RelativeTime at={version.written_at} />
                </Link>
              )}
            </dd>
          </>
        )}
      </dl>
    </>
  );
}

/** Cut, not rounded: what is not whole must not look so. */
function percent(share: number): string {
  return `${(Math.floor(share * 10_000 + 1e-9) / 100).toFixed(2)} %`;
}

function MetricTable({ of }: { of: Report["metrics"] }) {
  return (
    <table className="shares" aria-label="Metrics">
      <tbody>
        {METRICS.map((name) => {
          const share = of[name];
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="share">
                {share !== null && (
                  <div className="filled" aria-hidden="true">
                    <div style={{ width: `${share * 100}%` }} />
                  </div>
                )}
              </td>
              <td className="number">{share === null ? <span className="dim">not measured</span> : percent(share)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Validations({ of }: { of: Report["validations"] }) {
  return (
    <section aria-label="Rules">
      <h2>
        {formatNumber(of.filter((rule) => rule.passed).length)} of {countOf(of.length, "rule")} pass{" "}
      </h2>
      <table>
        <tbody>
          {of.slice(0, MOST).map((rule, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rules from elsewhere may be alike, and stay in place
            <tr key={place}>
              <td>
                {rule.passed === null ? (
                  <Badge tone="dim" icon="unknown" word="no result" />
                ) : rule.passed ? (
                  <Badge tone="good" icon="check" word="passes" />
                ) : (
                  <Badge tone="bad" icon="cross" word="fails" />
                )}
              </td>
              <td className="long">
                {(rule.rule_name ?? rule.rule_type ?? "a rule").slice(0, 300)}
                {rule.details && <div className="dim">{rule.details.slice(0, 500)}</div>}
              </td>
              <td className="number" title="Rows that fail the rule">
                {rule.failed_count === null ? "" : formatNumber(rule.failed_count)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Anomalies({ of }: { of: Report["anomalies"] }) {
  return (
    <section aria-label="Anomalies">
      <h2>{countOf(of.length, "anomaly", "anomalies")}</h2>
      <ul className="plain list">
        {of.slice(0, MOST).map((one, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <li key={place}>
            <span className="tag">{one.severity ?? "unrated"}</span> {one.type ?? "an anomaly"}
            {one.count !== null && ` · ${formatNumber(one.count)}`}
            {one.description && <div className="dim long">{one.description.slice(0, 500)}</div>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function EarlierReports({ of }: { of: Statement[] }) {
  return (
    <section aria-label="Earlier reports">
      <h2>Earlier reports</h2>
      <ul className="plain list">
        {of.map((one) => {
          const rules = one.report.validations;
          const broken = rules.filter((rule) => rule.passed === false).length;
          return (
            <li key={one.quality_id}>
              <RelativeTime at={momentOf(one)} /> <span className="dim">{one.basis}</span>{" "}
              {rules.length === 0 ? "no rules" : `${formatNumber(broken)} of ${countOf(rules.length, "rule")} failed`}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function momentOf(of: Statement): string {
  return of.report.measured_at ?? of.told_at;
}
