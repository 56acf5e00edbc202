import { type ReactNode, useState } from "react";
import { countOf, formatNumber } from "../parts/format";
import { type Column, firstOf } from "./columns";
import { displayValue, type Row } from "./values";

const FIRST = 8;

/** Rows as a small table: the columns that mattered first, the values that made something emphasised. */
export function RowTable({
  rows,
  count,
  columns,
  identity = [],
  label,
  end,
}: {
  rows: readonly Row[];
  count: number;
  columns: readonly Column[];
  identity?: readonly string[];
  label: string;
  /** What can be done with a row. */
  end?: (row: Row) => ReactNode;
}) {
  const [all, setAll] = useState(false);
  const [most, setMost] = useState(FIRST);
  const first = firstOf(columns, identity);
  const using = all ? columns : first;
  const listed = rows.slice(0, most);
  const hiddenHere = rows.length - listed.length;
  const notFetched = count - rows.length;
  return (
    <div className="column tight">
      <div className="scroll">
        <table className="small" aria-label={label}>
          <thead>
            <tr>
              {using.map((column) => (
                <th key={column.name} className={classOf(column)} title={titleOf(column)}>
                  <span className="cell">{column.name}</span>
                  {column.part === "made" && column.how[0] && <span className="cell explanation">{column.how[0]}</span>}
                </th>
              ))}
              {end && (
                <th>
                  <span className="sr-only">Trace the row</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {listed.map((row, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name, and stay in place
              <tr key={place}>
                {using.map((column) => (
                  <td
                    key={column.name}
                    className={classOf(column)}
                    title={displayValue(row[column.name])}
                    data-null={row[column.name] == null || undefined}
                  >
                    <span className="cell">{displayValue(row[column.name])}</span>
                  </td>
                ))}
                {end && <td className="end">{end(row)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="row wrap">
        {hiddenHere > 0 && (
          <button type="button" className="quiet" onClick={() => setMost(rows.length)}>
            + {countOf(hiddenHere, "more row")}
          </button>
        )}
        {notFetched > 0 && (
          <span className="dim">
            {hiddenHere > 0 ? "and" : "+"} {formatNumber(notFetched)} not shown
          </span>
        )}
        {columns.length > first.length && (
          <label className="row dim">
            <input type="checkbox" checked={all} onChange={() => setAll(!all)} />
            All {columns.length} columns
          </label>
        )}
      </div>
    </div>
  );
}

function classOf(column: Column): string {
  return [column.numeric ? "number" : "", column.part === "made" ? "computed" : ""].filter(Boolean).join(" ");
}

const PARTS = {
  made: "a value was computed from it",
  carried: "copied unchanged",
  decided: "used to join, filter or group rows",
};

function titleOf(column: Column): string {
  const how = column.part === null ? [] : [PARTS[column.part], ...column.how];
  return [column.name, ...how].join("\n").slice(0, 2000);
}
