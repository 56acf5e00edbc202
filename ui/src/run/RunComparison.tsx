import { useQueries } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { run } from "../api/queries";
import { to } from "../app/addresses";
import { RunState } from "../parts/Badge";
import { exactTime, formatDuration, formatNumber } from "../parts/format";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { ErrorMessage, Skeleton } from "../parts/QueryResult";
import { members, text } from "./facets";
import { type RunFigures, runFigures } from "./figures";

type Detail = Schemas["RunDetail"];

/** The heads of two runs beside each other, with a mark where they differ. */
export function RunComparison({ before, after }: { before: string; after: string }) {
  const [one, other] = useQueries({ queries: [run(before), run(after)] });
  const failed = one?.error ?? other?.error;
  if (failed) return <ErrorMessage error={failed} />;
  if (!one?.data || !other?.data) return <Skeleton lines={6} />;
  const [then, now] = [factsOf(one.data), factsOf(other.data)];
  return (
    <div className="card scroll">
      <table className="run-comparison" aria-label="Facts of both runs">
        <thead>
          <tr>
            <th>
              <span className="sr-only">Fact</span>
            </th>
            <th>Before</th>
            <th>After</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Run</th>
            {[one.data, other.data].map(({ run: compared }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same run may stand on both sides
              <td key={at} className="cell-name">
                <Link href={to.run(compared.run_id)}>
                  <Name of={compared.run_id} />
                </Link>{" "}
                <RunState of={compared.state} />
              </td>
            ))}
          </tr>
          {then.map(([word, value], at) => (
            <FactRow key={word} word={word} before={value} after={now[at]?.[1] ?? null} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const OWN = new Set(["Started", "Duration"]); // no two runs have these in common

function FactRow({ word, before, after }: { word: string; before: string | null; after: string | null }) {
  if (before === null && after === null) return null;
  const differs = before !== after && !OWN.has(word);
  return (
    <tr className={differs ? "differs" : undefined}>
      <th scope="row">
        {word}
        {differs && (
          <span className="state warn" title="The runs differ here">
            <Icon name="changed" />
            <span className="sr-only">differs</span>
          </span>
        )}
      </th>
      {[before, after].map((value, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: both sides may say the same
        <td key={at} className="cell-name">
          {value === null ? <span className="dim">unknown</span> : <Name of={value} />}
        </td>
      ))}
    </tr>
  );
}

function factsOf(detail: Detail): [string, string | null][] {
  const head = runFigures(detail);
  const manifest = members(detail.run_facets["cdme.runManifest"]);
  return [
    ["Started", detail.run.started_at && exactTime(detail.run.started_at)],
    ["Duration", head.milliseconds === null ? null : formatDuration(head.milliseconds)],
    ["Rows in", head.rowsIn && formatNumber(head.rowsIn.rows)],
    ["Rows out", head.rowsOut && formatNumber(head.rowsOut.rows)],
    ["Ledger", balanceOf(head)],
    ["Configuration", text(manifest.configHash)],
    ["Code", text(manifest.codeHash)],
    ["Design", text(manifest.designHash)],
    ["Commit", text(members(manifest.code).commit)],
  ];
}

function balanceOf({ ledger }: RunFigures): string {
  if (ledger === null) return "no ledger";
  return ledger.balanced === null ? "balance unknown" : ledger.balanced ? "balanced" : "not balanced";
}
