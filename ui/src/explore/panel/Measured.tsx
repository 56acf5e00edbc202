import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { quality } from "../../api/questions";
import { to } from "../../app/places";
import type { Endpoint } from "../../graph/names";
import { Answer, Empty } from "../../parts/Answer";
import { Mark } from "../../parts/State";
import { When } from "../../parts/When";
import { amount, counted } from "../../parts/words";

type Statement = Schemas["QualityStatement"];
type Report = Schemas["QualityReport"];

const METRICS = ["completeness", "accuracy", "consistency", "timeliness"] as const;
const MOST = 200;

/** Its quality by rules: the newest word on it whole, and when there were others. */
export function Measured({ of }: { of: Endpoint }) {
  const found = useQuery(quality(of));
  return (
    <Answer of={found} lines={4}>
      {({ items: [newest, ...older] }) =>
        newest === undefined ? (
          <Empty>No rules have been held against it.</Empty>
        ) : (
          <section className="column" aria-label="Measured by rules">
            <Heading of={newest} />
            <Shares of={newest.report.metrics} />
            {newest.report.validations.length > 0 && <Validations of={newest.report.validations} />}
            {newest.report.anomalies.length > 0 && <Anomalies of={newest.report.anomalies} />}
            {older.length > 0 && <Before of={older} />}
          </section>
        )
      }
    </Answer>
  );
}

function Heading({ of }: { of: Statement }) {
  const { version } = of;
  return (
    <>
      <h2>
        Quality, {of.basis} <When at={momentOf(of)} />
      </h2>
      <dl className="facts">
        {of.report.rows !== null && (
          <>
            <dt>Rows</dt>
            <dd>{amount(of.report.rows)}</dd>
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
            <dt>Version of</dt>
            <dd>
              {version.run_id === null ? (
                <When at={version.written_at} />
              ) : (
                <Link href={to.run(version.run_id)}>
                  <When at={version.written_at} />
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

function Shares({ of }: { of: Report["metrics"] }) {
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
        {amount(of.filter((rule) => rule.passed).length)} of {counted(of.length, "rule")} hold
      </h2>
      <table>
        <tbody>
          {of.slice(0, MOST).map((rule, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rules from elsewhere may be alike, and stay in place
            <tr key={place}>
              <td>
                {rule.passed === null ? (
                  <Mark tone="dim" icon="unknown" word="untold" />
                ) : rule.passed ? (
                  <Mark tone="good" icon="check" word="holds" />
                ) : (
                  <Mark tone="bad" icon="cross" word="broken" />
                )}
              </td>
              <td className="long">
                {(rule.rule_name ?? rule.rule_type ?? "a rule").slice(0, 300)}
                {rule.details && <div className="dim">{rule.details.slice(0, 500)}</div>}
              </td>
              <td className="number" title="Rows that break it">
                {rule.failed_count === null ? "" : amount(rule.failed_count)}
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
      <h2>{counted(of.length, "anomaly", "anomalies")}</h2>
      <ul className="plain list">
        {of.slice(0, MOST).map((one, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <li key={place}>
            <span className="tag">{one.severity ?? "unrated"}</span> {one.type ?? "an anomaly"}
            {one.count !== null && ` · ${amount(one.count)}`}
            {one.description && <div className="dim long">{one.description.slice(0, 500)}</div>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Before({ of }: { of: Statement[] }) {
  return (
    <section aria-label="Before that">
      <h2>Before that</h2>
      <ul className="plain list">
        {of.map((one) => {
          const rules = one.report.validations;
          const broken = rules.filter((rule) => rule.passed === false).length;
          return (
            <li key={one.quality_id}>
              <When at={momentOf(one)} /> <span className="dim">{one.basis}</span>{" "}
              {rules.length === 0 ? "no rules" : `${amount(broken)} of ${counted(rules.length, "rule")} broken`}
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
