/** The key figures of a run. Pure. */

import type { Schemas } from "../api/client";
import { count, members } from "./facets";
import { type Ledger, ledgerOf, rowsRead } from "./ledger";
import { deadLettersOf } from "./step-rows";

type Detail = Schemas["RunDetail"];
type Use = Schemas["DatasetUse"];

export interface RunFigures {
  ledger: Ledger | null;
  /** Null: not recorded. `atLeast`: not recorded by all inputs. */
  rowsIn: Sum | null;
  rowsOut: Sum | null;
  milliseconds: number | null;
  deadLetters: number;
  /** Broken invariants other than the balance, which has its own place. */
  broken: string[];
}

export interface Sum {
  rows: number;
  atLeast: boolean;
}

export function runFigures(detail: Detail): RunFigures {
  const ledger = ledgerOf(detail.run_facets);
  const letters = deadLettersOf(detail.run_facets, detail.outputs);
  const aside = new Set(letters.map((one) => one.dataset?.name));
  const read = ledger === null ? null : rowsRead(ledger);
  return {
    ledger,
    rowsIn: read === null ? sumOf(detail.inputs, "inputStatistics") : { rows: read, atLeast: false },
    rowsOut: sumOf(
      detail.outputs.filter((use) => !aside.has(use.dataset.name)),
      "outputStatistics",
    ),
    milliseconds: durationOf(detail.run),
    deadLetters: letters.reduce((sum, one) => sum + one.letters, 0),
    broken: (newest(detail)?.invariants ?? [])
      .filter((one) => !one.holds && one.name !== "balance")
      .map((one) => one.name),
  };
}

export function newest(detail: Detail): Schemas["Certificate"] | null {
  return detail.certificates.reduce<Schemas["Certificate"] | null>(
    (last, one) => (last === null || one.seq > last.seq ? one : last),
    null,
  );
}

export function durationOf(run: Schemas["Run"]): number | null {
  if (!run.started_at || !run.ended_at) return null;
  const milliseconds = Date.parse(run.ended_at) - Date.parse(run.started_at);
  return Number.isFinite(milliseconds) && milliseconds >= 0 ? milliseconds : null;
}

export function rowsOf(use: Use): number | null {
  const { inputStatistics, outputStatistics } = use.io_facets;
  return count(members(outputStatistics).rowCount) ?? count(members(inputStatistics).rowCount);
}

function sumOf(uses: readonly Use[], facet: string): Sum | null {
  const counts = uses.map((use) => count(members(use.io_facets[facet]).rowCount));
  const known = counts.filter((one) => one !== null);
  if (known.length === 0) return null;
  return { rows: known.reduce((sum, one) => sum + one, 0), atLeast: known.length < counts.length };
}
