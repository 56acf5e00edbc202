import { useMemo, useState } from "react";
import type { Field } from "../../graph/card";
import { Empty } from "../../parts/Answer";
import { Name } from "../../parts/Name";
import { counted } from "../../parts/words";

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
  const [sought, setSought] = useState("");
  const [most, setMost] = useState(MANY);
  const found = useMemo(() => {
    const word = sought.trim().toLowerCase();
    return word === "" ? fields : fields.filter((field) => field.name.toLowerCase().includes(word));
  }, [fields, sought]);
  return (
    <section aria-label="Schema">
      <div className="row apart">
        <h2>{counted(fields.length, "column")}</h2>
        {fields.length > 10 && (
          <input
            type="search"
            aria-label="Search the schema"
            placeholder="Search"
            value={sought}
            onChange={(event) => setSought(event.target.value)}
          />
        )}
      </div>
      {fields.length === 0 ? (
        <Empty>No schema has been told.</Empty>
      ) : (
        <table className="schema">
          <tbody>
            {found.slice(0, most).map((field) => (
              <tr key={field.name}>
                <td>
                  <button
                    type="button"
                    className="quiet"
                    aria-pressed={field.name === chosen}
                    aria-label={`Light the path of ${field.name.slice(0, 200)}`}
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
      {found.length > most && (
        <button type="button" onClick={() => setMost(most + 10 * MANY)}>
          + {counted(found.length - most, "column")}
        </button>
      )}
    </section>
  );
}
