import { type ReactNode, useState } from "react";
import { amount, counted } from "../parts/words";
import { type Column, firstOf } from "./columns";
import { type Row, shown } from "./values";

const FIRST = 8;

/** Rows as a small table: the columns that mattered first, the values that made something emphasised. */
export function Table({
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
  const here = rows.length - listed.length;
  const gone = count - rows.length;
  return (
    <div className="column tight">
      <div className="scroll">
        <table className="small" aria-label={label}>
          <thead>
            <tr>
              {using.map((column) => (
                <th key={column.name} className={classOf(column)} title={titleOf(column)}>
                  <span className="cell">{column.name}</span>
                  {column.part === "made" && column.how[0] && <span className="cell how">{column.how[0]}</span>}
                </th>
              ))}
              {end && (
                <th>
                  <span className="sr-only">Ask about the row</span>
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
                    title={shown(row[column.name])}
                    data-null={row[column.name] == null || undefined}
                  >
                    <span className="cell">{shown(row[column.name])}</span>
                  </td>
                ))}
                {end && <td className="end">{end(row)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="row wrap">
        {here > 0 && (
          <button type="button" className="quiet" onClick={() => setMost(rows.length)}>
            + {counted(here, "more row")}
          </button>
        )}
        {gone > 0 && (
          <span className="dim">
            {here > 0 ? "and" : "+"} {amount(gone)} that are not shown here
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
  return [column.numeric ? "number" : "", column.part === "made" ? "made" : ""].filter(Boolean).join(" ");
}

const PARTS = {
  made: "a value was computed of it",
  carried: "handed on as it was",
  decided: "by it rows were joined, kept or grouped",
};

function titleOf(column: Column): string {
  const how = column.part === null ? [] : [PARTS[column.part], ...column.how];
  return [column.name, ...how].join("\n").slice(0, 2000);
}
