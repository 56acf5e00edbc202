import { Copy } from "../parts/Copy";
import { Name } from "../parts/Name";
import { type Facets, members, text } from "./facets";

const HASHES: [key: string, word: string, of: string][] = [
  ["configHash", "Configuration", "settings, partition, options"],
  ["codeHash", "Code", "the script, its commit, its functions"],
  ["designHash", "Design", "the plan, or the pipeline’s nodes and edges"],
  ["contractVersion", "Contract", "the expectations set before the run"],
];

/** Hashes that identify the run: the same code on the same data has the same hashes. */
export function Manifest({ facets }: { facets: Facets }) {
  const facet = facets["cdme.runManifest"];
  const manifest = members(facet);
  const sums: [string, Facets][] = [
    ["Inputs", members(manifest.inputChecksums)],
    ["Outputs", members(manifest.outputChecksums)],
    ["Without a checksum", members(manifest.withoutChecksum)],
  ];
  return (
    <section className="card column" aria-label="Manifest">
      <h2>Manifest</h2>
      {facet === undefined && (
        <p className="dim">No manifest: the run recorded no hashes of its code, configuration and data.</p>
      )}
      <dl className="facts-list">
        {HASHES.map(([key, word, of]) => {
          const hash = text(manifest[key]);
          if (hash === null) return null;
          return (
            <div key={key} className="contents">
              <dt title={of}>{word}</dt>
              <dd className="row">
                <Name of={hash} />
                <Copy text={hash} />
              </dd>
            </div>
          );
        })}
      </dl>
      {sums.map(([word, of]) => (
        <ChecksumTable key={word} word={word} of={of} />
      ))}
    </section>
  );
}

function ChecksumTable({ word, of }: { word: string; of: Facets }) {
  const entries = Object.entries(of).slice(0, 200);
  if (entries.length === 0) return null;
  return (
    <div className="scroll">
      <table className="sums" aria-label={word}>
        <thead>
          <tr>
            <th>{word}</th>
            <th>{word === "Without a checksum" ? "Why" : "Checksum"}</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(([name, value]) => (
            <tr key={name}>
              <td className="cell-name">
                <Name of={name} />
              </td>
              <td className="cell-name">
                {word === "Without a checksum" ? (
                  <span className="breaks">{String(value)}</span>
                ) : (
                  <Name of={typeof value === "string" ? value : JSON.stringify(value)} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
