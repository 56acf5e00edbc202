import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { run as runQuestion } from "../../api/queries";
import { nodeKey } from "../../graph/names";
import { Badge } from "../../parts/Badge";
import { countOf, formatBytes, formatNumber } from "../../parts/format";
import { Name } from "../../parts/Name";
import { Empty } from "../../parts/QueryResult";
import { type Assertion, type ColumnMetrics, qualityOf } from "./facets";
import { QualityReports } from "./QualityReports";

/** What rules found of it; and what was measured and asserted when it was written last. */
export function Quality({ detail, run }: { detail: Schemas["DatasetDetail"]; run: string | null }) {
  return (
    <div className="column">
      <QualityReports of={detail.summary.dataset} />
      <WriteMetrics detail={detail} run={run} />
    </div>
  );
}

function WriteMetrics({ detail, run }: { detail: Schemas["DatasetDetail"]; run: string | null }) {
  const writer = useQuery({ ...runQuestion(run ?? ""), enabled: run !== null });
  const key = nodeKey(detail.summary.dataset);
  const use = writer.data?.outputs.find((output) => nodeKey(output.dataset) === key);
  const quality = qualityOf(detail.facets, use?.facets, use?.io_facets);
  const sums = [
    quality.rows === null ? "" : countOf(quality.rows, "row"),
    quality.bytes === null ? "" : formatBytes(quality.bytes),
    quality.files === null ? "" : countOf(quality.files, "file"),
  ].filter(Boolean);
  if (sums.length === 0 && quality.columns.length === 0 && quality.assertions.length === 0) {
    return <Empty>The run that wrote this dataset reported no metrics and no assertions.</Empty>;
  }
  return (
    <div className="column">
      <h2>Metrics of the last write</h2>
      {sums.length > 0 && <p>{sums.join(" · ")}</p>}
      {quality.assertions.length > 0 && <Assertions of={quality.assertions} />}
      {quality.columns.length > 0 && <Metrics of={quality.columns} />}
    </div>
  );
}

function Assertions({ of }: { of: Assertion[] }) {
  return (
    <section aria-label="Assertions">
      <h2>
        {formatNumber(of.filter((one) => one.success).length)} of {countOf(of.length, "assertion")} pass{" "}
      </h2>
      <table>
        <tbody>
          {of.slice(0, 500).map((one) => (
            <tr key={JSON.stringify(one)}>
              <td>
                {one.success === null ? (
                  <Badge tone="dim" icon="unknown" word="no result" />
                ) : one.success ? (
                  <Badge tone="good" icon="check" word="passes" />
                ) : (
                  <Badge tone="bad" icon="cross" word="fails" />
                )}
              </td>
              <td className="long">
                {one.what.slice(0, 500)}
                {one.severity && <span className="dim"> · {one.severity.slice(0, 40)}</span>}
              </td>
              <td>{one.column && <Name of={one.column} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Metrics({ of }: { of: ColumnMetrics[] }) {
  const number = (value: number | null) => (value === null ? "" : formatNumber(value));
  return (
    <section className="scroll" aria-label="Metrics by column">
      <table>
        <thead>
          <tr>
            <th>Column</th>
            <th className="number">Nulls</th>
            <th className="number">Distinct</th>
            <th className="number">Min</th>
            <th className="number">Max</th>
          </tr>
        </thead>
        <tbody>
          {of.slice(0, 500).map((one) => (
            <tr key={one.column}>
              <td>
                <Name of={one.column} />
              </td>
              <td className="number">{number(one.nulls)}</td>
              <td className="number">{number(one.distinct)}</td>
              <td className="number">{one.min?.slice(0, 40)}</td>
              <td className="number">{one.max?.slice(0, 40)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
