import { useMemo, useState } from "react";
import type { Field } from "../../graph/card";
import { countOf } from "../../parts/format";
import { Name } from "../../parts/Name";
import { Empty } from "../../parts/QueryResult";

const MANY = 50;

/** Its columns; choosing one lights its path. */
export function Schema({
  fields,
  chosen,
  choose,
}: {
  fields: Field[];
  chosen: string | null;
  choose: (column: string) => void;
}) {
  const [searchText, setSearchText] = useState("");
  const [most, setMost] = useState(MANY);
  const matches = useMemo(() => {
    const word = searchText.trim().toLowerCase();
    return word === "" ? fields : fields.filter((field) => field.name.toLowerCase().includes(word));
  }, [fields, searchText]);
  return (
    <section aria-label="Schema">
      <div className="row apart">
        <h2>{countOf(fields.length, "column")}</h2>
        {fields.length > 10 && (
          <input
            type="search"
            aria-label="Search the schema"
            placeholder="Search"
            value={searchText}
            onChange={(event) => setSearchText(event.target.value)}
          />
        )}
      </div>
      {fields.length === 0 ? (
        <Empty>No schema recorded.</Empty>
      ) : (
        <table className="schema">
          <tbody>
            {matches.slice(0, most).map((field) => (
              <tr key={field.name}>
                <td>
                  <button
                    type="button"
                    className="quiet"
                    aria-pressed={field.name === chosen}
                    aria-label={`Show the lineage of column ${field.name.slice(0, 200)}`}
                    onClick={() => choose(field.name)}
                  >
                    <Name of={field.name} />
                  </button>
                  {field.description && <div className="dim long">{field.description.slice(0, 2000)}</div>}
                </td>
                <td className="mono dim" title={field.type ?? undefined}>
                  {(field.type ?? "").slice(0, 60)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {matches.length > most && (
        <button type="button" onClick={() => setMost(most + 10 * MANY)}>
          + {countOf(matches.length - most, "column")}
        </button>
      )}
    </section>
  );
}
