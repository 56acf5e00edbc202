import type { Schemas } from "../api/client";
import { type ColumnLink, isOwn, madeBy } from "./columns";
import { displayValue, type Row } from "./values";

const MOST_FIRST = 24; // columns of a card

/** One row as a card: its values are the answer's subject, how they were made stands beneath. */
export function RowCard({
  row,
  columns,
  links,
  label,
}: {
  row: Row;
  columns: readonly Schemas["Field"][];
  links: readonly ColumnLink[];
  label: string;
}) {
  const present = Object.keys(row).filter(isOwn);
  const absent = columns.map((column) => column.name).filter((name) => !(name in row));
  const names = [...present, ...absent];
  return (
    <section className="card row-card" aria-label={label}>
      <dl>
        {names.slice(0, MOST_FIRST).map((name) => {
          const how = madeBy(links, name).filter((logic) => logic !== name);
          return (
            <div key={name}>
              <dt title={name}>{name}</dt>
              {name in row ? (
                <dd className="mono" title={displayValue(row[name])} data-null={row[name] === null || undefined}>
                  {displayValue(row[name])}
                </dd>
              ) : (
                <dd
                  className="dim"
                  title="Pair tables hold the identifying columns of a row. Run the query on Spark for the other values."
                >
                  on Spark only
                </dd>
              )}
              {how.length > 0 && (
                <dd className="explanation mono" title={how.join("\n")}>
                  {how.join("; ")}
                </dd>
              )}
            </div>
          );
        })}
      </dl>
      {names.length > MOST_FIRST && <p className="dim">and {names.length - MOST_FIRST} more columns</p>}
    </section>
  );
}
