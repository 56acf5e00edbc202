/** What a run comes down to, in one line. Pure. */

import type { Schemas } from "../api/client";
import { count, members } from "./facets";
import { type Ledger, ledgerOf, rowsRead } from "./ledger";
import { deadLettersOf } from "./nodes";

type Detail = Schemas["RunDetail"];
type Use = Schemas["DatasetUse"];

export interface Head {
  ledger: Ledger | null;
  /** Null: not told. `atLeast`: not by all inputs. */
  rowsIn: Sum | null;
  rowsOut: Sum | null;
  milliseconds: number | null;
  deadLetters: number;
  /** What was promised and does not hold, but the balance, which is said by itself. */
  broken: string[];
}

export interface Sum {
  rows: number;
  atLeast: boolean;
}

export function headOf(detail: Detail): Head {
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
    milliseconds: lastedOf(detail.run),
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

export function lastedOf(run: Schemas["Run"]): number | null {
  if (!run.started_at || !run.ended_at) return null;
  const found = Date.parse(run.ended_at) - Date.parse(run.started_at);
  return Number.isFinite(found) && found >= 0 ? found : null;
}

export function rowsOf(use: Use): number | null {
  const { inputStatistics, outputStatistics } = use.io_facets;
  return count(members(outputStatistics).rowCount) ?? count(members(inputStatistics).rowCount);
}

function sumOf(uses: readonly Use[], facet: string): Sum | null {
  const told = uses.map((use) => count(members(use.io_facets[facet]).rowCount));
  const known = told.filter((one) => one !== null);
  if (known.length === 0) return null;
  return { rows: known.reduce((sum, one) => sum + one, 0), atLeast: known.length < told.length };
}
