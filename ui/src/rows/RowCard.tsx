import type { Schemas } from "../api/client";
import { isOwn, type Link, madeBy } from "./columns";
import { type Row, shown } from "./values";

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
  links: readonly Link[];
  label: string;
}) {
  const told = Object.keys(row).filter(isOwn);
  const untold = columns.map((column) => column.name).filter((name) => !(name in row));
  const names = [...told, ...untold];
  return (
    <section className="card row-card" aria-label={label}>
      <dl>
        {names.slice(0, MOST_FIRST).map((name) => {
          const how = madeBy(links, name).filter((logic) => logic !== name);
          return (
            <div key={name}>
              <dt title={name}>{name}</dt>
              {name in row ? (
                <dd className="mono" title={shown(row[name])} data-null={row[name] === null || undefined}>
                  {shown(row[name])}
                </dd>
              ) : (
                <dd className="dim" title="Pair tables hold what a row is known by. Spark has the other values.">
                  not in the pair tables
                </dd>
              )}
              {how.length > 0 && (
                <dd className="how mono" title={how.join("\n")}>
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
