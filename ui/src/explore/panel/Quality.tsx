import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { run as runQuestion } from "../../api/questions";
import { nodeKey } from "../../graph/names";
import { Empty } from "../../parts/Answer";
import { Name } from "../../parts/Name";
import { Mark } from "../../parts/State";
import { amount, counted, size } from "../../parts/words";
import { type Assertion, type ColumnMetrics, qualityOf } from "./facets";
import { Measured } from "./Measured";

/** What rules found of it; and what was measured and asserted when it was written last. */
export function Quality({ detail, run }: { detail: Schemas["DatasetDetail"]; run: string | null }) {
  return (
    <div className="column">
      <Measured of={detail.summary.dataset} />
      <Written detail={detail} run={run} />
    </div>
  );
}

function Written({ detail, run }: { detail: Schemas["DatasetDetail"]; run: string | null }) {
  const written = useQuery({ ...runQuestion(run ?? ""), enabled: run !== null });
  const key = nodeKey(detail.summary.dataset);
  const use = written.data?.outputs.find((output) => nodeKey(output.dataset) === key);
  const quality = qualityOf(detail.facets, use?.facets, use?.io_facets);
  const sums = [
    quality.rows === null ? "" : counted(quality.rows, "row"),
    quality.bytes === null ? "" : size(quality.bytes),
    quality.files === null ? "" : counted(quality.files, "file"),
  ].filter(Boolean);
  if (sums.length === 0 && quality.columns.length === 0 && quality.assertions.length === 0) {
    return <Empty>Nothing was measured or asserted when it was written.</Empty>;
  }
  return (
    <div className="column">
      <h2>When it was written</h2>
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
        {amount(of.filter((one) => one.success).length)} of {counted(of.length, "assertion")} hold
      </h2>
      <table>
        <tbody>
          {of.slice(0, 500).map((one) => (
            <tr key={JSON.stringify(one)}>
              <td>
                {one.success === null ? (
                  <Mark tone="dim" icon="unknown" word="untold" />
                ) : one.success ? (
                  <Mark tone="good" icon="check" word="holds" />
                ) : (
                  <Mark tone="bad" icon="cross" word="fails" />
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
  const number = (value: number | null) => (value === null ? "" : amount(value));
  return (
    <section className="scroll" aria-label="Measures by column">
      <table>
        <thead>
          <tr>
            <th>Column</th>
            <th className="number">Nulls</th>
            <th className="number">Distinct</th>
            <th className="number">Least</th>
            <th className="number">Most</th>
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
