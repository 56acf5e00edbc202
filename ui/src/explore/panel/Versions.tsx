import { useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { to } from "../../app/addresses";
import { countOf } from "../../parts/format";
import { RelativeTime } from "../../parts/RelativeTime";

/** What was written and when; the graph can be looked at as of each. */
export function Versions({
  versions,
  at,
  look,
}: {
  versions: Schemas["Version"][];
  at: string | null;
  look: (at: string | null) => void;
}) {
  const [most, setMost] = useState(5);
  if (versions.length === 0) return null;
  return (
    <section aria-label="Versions">
      <h2>{countOf(versions.length, "version")}</h2>
      <table>
        <tbody>
          {versions.slice(0, most).map((version) => (
            <tr key={JSON.stringify([version.written_at, version.run_id, version.partition, version.label])}>
              <td>
                <RelativeTime at={version.written_at} />
              </td>
              <td>{version.partition !== null && <span className="tag">{version.partition.slice(0, 80)}</span>}</td>
              <td>
                {version.run_id && (
                  <Link href={to.run(version.run_id)}>{(version.job?.name ?? version.run_id).slice(0, 60)}</Link>
                )}
              </td>
              <td className="number">
                <button
                  type="button"
                  className="quiet"
                  aria-pressed={at === version.written_at}
                  onClick={() => look(at === version.written_at ? null : version.written_at)}
                >
                  View at this time
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {versions.length > most && (
        <button type="button" onClick={() => setMost(most + 50)}>
          + {countOf(versions.length - most, "version")}
        </button>
      )}
    </section>
  );
}
