import { type ReactNode, useId, useState } from "react";
import type { Schemas } from "../api/client";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { amount, counted } from "../parts/words";
import { DeadLetterLines } from "./DeadLetterLines";
import { flowOf } from "./flows";
import { LedgerTable } from "./LedgerTable";
import { Long } from "./Long";
import { balanceOfAccount, type Ledger, type Part } from "./ledger";
import { pipelineSteps } from "./nodes";
import { usePlaces } from "./rowPlaces";
import { Sankey } from "./Sankey";

/** What became of the rows: a picture, or the same as a table. */
export function LedgerView({ detail, ledger }: { detail: Schemas["RunDetail"]; ledger: Ledger | null }) {
  const [asTable, setAsTable] = useState(false);
  const title = useId();
  return (
    <section className="card column" aria-labelledby={title}>
      <div className="row apart wrap">
        <h2 id={title}>What became of the rows</h2>
        {ledger !== null && (
          <fieldset className="row choice">
            <legend className="sr-only">Show the ledger as</legend>
            <button type="button" aria-pressed={!asTable} onClick={() => setAsTable(false)}>
              Picture
            </button>
            <button type="button" aria-pressed={asTable} onClick={() => setAsTable(true)}>
              Table
            </button>
          </fieldset>
        )}
      </div>
      {ledger === null ? <NoLedger /> : <Parts detail={detail} ledger={ledger} asTable={asTable} />}
      <DeadLetterLines detail={detail} />
    </section>
  );
}

function NoLedger() {
  return (
    <p className="dim">
      No ledger: the rows of this run were not counted against its sources. <code>ledger=True</code> has them counted.
    </p>
  );
}

function Parts({ detail, ledger, asTable }: { detail: Schemas["RunDetail"]; ledger: Ledger; asTable: boolean }) {
  return ledger.parts.map((part, number) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: two outputs may have one name
    <OnePart key={number} detail={detail} part={part} asTable={asTable} />
  ));
}

function OnePart({ detail, part, asTable }: { detail: Schemas["RunDetail"]; part: Part; asTable: boolean }) {
  const places = usePlaces(detail, part);
  const steps = pipelineSteps(detail.run_facets);
  return (
    <div className="column">
      {part.output !== null && (
        <h3 className="row">
          to <Name of={part.output} />
        </h3>
      )}
      {part.accounts.length === 0 && <p className="dim">No source was counted.</p>}
      {part.accounts.length > 0 && !asTable && <Sankey flow={flowOf(part, steps)} places={places} />}
      {part.accounts.length > 0 && <LedgerTable part={part} places={places} hidden={!asTable} />}
      <Unknowns of={part} />
    </div>
  );
}

/** Whatever keeps the account from being whole. */
function Unknowns({ of }: { of: Part }) {
  const found: [string, ReactNode][] = [];
  if (of.partly !== null) found.push(["partly", `Not of all rows: ${of.partly}.`]);
  for (const account of of.accounts) {
    if (account.note !== null)
      found.push([`note ${account.source}`, <Reason key="r" of={account.source} why={account.note} />]);
    if (account.beyond.length > 0) {
      const why = `rows are said to come from files that have no such rows: ${account.beyond.join(", ")}`;
      found.push([`beyond ${account.source}`, <Reason key="r" of={account.source} why={why} />]);
    }
  }
  if (of.total !== null && balanceOfAccount(of.total) === false) {
    const { read, processed, filtered, errored } = of.total;
    const counts = [processed, filtered, errored].map((one) => amount(one ?? 0)).join(" + ");
    found.push([
      "total",
      `Of all sources together ${amount(read ?? 0)} rows were read, and ${counts} are accounted for.`,
    ]);
  }
  if (of.missing.length > 0) found.push(["missing", `Missing: ${of.missing.join(", ")}`]);
  if (of.surplus.length > 0) found.push(["surplus", `Too many: ${of.surplus.join(", ")}`]);
  if (of.records !== null) found.push(["records", `All that is known of each row is in ${of.records}`]);
  for (const one of of.notFollowed) {
    found.push([`not ${one.source}`, <Reason key="r" of={one.source} why={one.reason ?? "no reason was told"} not />]);
  }
  if (found.length === 0) return null;
  return (
    <ul className="plain notes" aria-label={counted(found.length, "note on the ledger", "notes on the ledger")}>
      {found.map(([key, words]) => (
        <li key={key} className="row start warn">
          <Icon name="alert" />
          <span className="ink breaks">{words}</span>
        </li>
      ))}
    </ul>
  );
}

function Reason({ of, why, not }: { of: string; why: string; not?: boolean }) {
  return (
    <>
      <Name of={of} /> {not && "was not followed: "}
      <Long of={why} />
    </>
  );
}
