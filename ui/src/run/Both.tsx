import { useQueries } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { run } from "../api/questions";
import { to } from "../app/places";
import { Skeleton, Wrong } from "../parts/Answer";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { State } from "../parts/State";
import { amount, duration, exact } from "../parts/words";
import { members, text } from "./facets";
import { type Head, headOf } from "./head";

type Detail = Schemas["RunDetail"];

/** The heads of two runs beside each other, with a mark where they differ. */
export function Both({ before, after }: { before: string; after: string }) {
  const [one, other] = useQueries({ queries: [run(before), run(after)] });
  const failed = one?.error ?? other?.error;
  if (failed) return <Wrong error={failed} />;
  if (!one?.data || !other?.data) return <Skeleton lines={6} />;
  const [then, now] = [factsOf(one.data), factsOf(other.data)];
  return (
    <div className="card scroll">
      <table className="both" aria-label="The two runs">
        <thead>
          <tr>
            <th>
              <span className="sr-only">What</span>
            </th>
            <th>Before</th>
            <th>After</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Run</th>
            {[one.data, other.data].map(({ run: each }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same run may stand on both sides
              <td key={at} className="cell-name">
                <Link href={to.run(each.run_id)}>
                  <Name of={each.run_id} />
                </Link>{" "}
                <State of={each.state} />
              </td>
            ))}
          </tr>
          {then.map(([word, value], at) => (
            <Line key={word} word={word} before={value} after={now[at]?.[1] ?? null} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const OWN = new Set(["Started", "Duration"]); // no two runs have these in common

function Line({ word, before, after }: { word: string; before: string | null; after: string | null }) {
  if (before === null && after === null) return null;
  const differs = before !== after && !OWN.has(word);
  return (
    <tr className={differs ? "differs" : undefined}>
      <th scope="row">
        {word}
        {differs && (
          <span className="state warn" title="They differ">
            <Icon name="changed" />
            <span className="sr-only">differs</span>
          </span>
        )}
      </th>
      {[before, after].map((value, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: both sides may say the same
        <td key={at} className="cell-name">
          {value === null ? <span className="dim">not told</span> : <Name of={value} />}
        </td>
      ))}
    </tr>
  );
}

function factsOf(detail: Detail): [string, string | null][] {
  const head = headOf(detail);
  const manifest = members(detail.run_facets["cdme.runManifest"]);
  return [
    ["Started", detail.run.started_at && exact(detail.run.started_at)],
    ["Duration", head.milliseconds === null ? null : duration(head.milliseconds)],
    ["Rows in", head.rowsIn && amount(head.rowsIn.rows)],
    ["Rows out", head.rowsOut && amount(head.rowsOut.rows)],
    ["Ledger", balanceOf(head)],
    ["Configuration", text(manifest.configHash)],
    ["Code", text(manifest.codeHash)],
    ["Design", text(manifest.designHash)],
    ["Commit", text(members(manifest.code).commit)],
  ];
}

function balanceOf({ ledger }: Head): string {
  if (ledger === null) return "no ledger";
  return ledger.balanced === null ? "balance unknown" : ledger.balanced ? "balanced" : "not balanced";
}
