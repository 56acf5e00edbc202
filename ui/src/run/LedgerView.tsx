import { type ReactNode, useId, useState } from "react";
import type { Schemas } from "../api/client";
import { countOf, formatNumber } from "../parts/format";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { DeadLetterLines } from "./DeadLetterLines";
import { flowOf } from "./flows";
import { LedgerTable } from "./LedgerTable";
import { LongText } from "./LongText";
import { balanceOfAccount, type Ledger, type Part } from "./ledger";
import { useLedgerLinks } from "./ledger-links";
import { Sankey } from "./Sankey";
import { pipelineSteps } from "./step-rows";

/** Row ledger: a picture, or the same as a table. */
export function LedgerView({ detail, ledger }: { detail: Schemas["RunDetail"]; ledger: Ledger | null }) {
  const [asTable, setAsTable] = useState(false);
  const title = useId();
  return (
    <section className="card column" aria-labelledby={title}>
      <div className="row apart wrap">
        <h2 id={title}>Row ledger</h2>
        {ledger !== null && (
          <fieldset className="row choice">
            <legend className="sr-only">Show the ledger as</legend>
            <button type="button" aria-pressed={!asTable} onClick={() => setAsTable(false)}>
              {" "}
              Diagram{" "}
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
      No ledger: the rows of this run were not counted by source. <code>ledger=True</code> turns the ledger on.
    </p>
  );
}

function Parts({ detail, ledger, asTable }: { detail: Schemas["RunDetail"]; ledger: Ledger; asTable: boolean }) {
  return ledger.parts.map((part, number) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: two outputs may have one name
    <PartView key={number} detail={detail} part={part} asTable={asTable} />
  ));
}

function PartView({ detail, part, asTable }: { detail: Schemas["RunDetail"]; part: Part; asTable: boolean }) {
  const places = useLedgerLinks(detail, part);
  const steps = pipelineSteps(detail.run_facets);
  return (
    <div className="column">
      {part.output !== null && (
        <h3 className="row">
          to <Name of={part.output} />
        </h3>
      )}
      {part.accounts.length === 0 && <p className="dim">No source has counts.</p>}
      {part.accounts.length > 0 && !asTable && <Sankey flow={flowOf(part, steps)} places={places} />}
      {part.accounts.length > 0 && <LedgerTable part={part} places={places} hidden={!asTable} />}
      <LedgerNotes of={part} />
    </div>
  );
}

/** Whatever keeps the account from being whole. */
function LedgerNotes({ of }: { of: Part }) {
  const notes: [string, ReactNode][] = [];
  if (of.partly !== null) notes.push(["partly", `Partial ledger: ${of.partly}.`]);
  for (const account of of.accounts) {
    if (account.note !== null)
      notes.push([`note ${account.source}`, <SourceNote key="r" of={account.source} why={account.note} />]);
    if (account.beyond.length > 0) {
      const why = `rows are attributed to files that do not contain them: ${account.beyond.join(", ")}`;
      notes.push([`beyond ${account.source}`, <SourceNote key="r" of={account.source} why={why} />]);
    }
  }
  if (of.total !== null && balanceOfAccount(of.total) === false) {
    const { read, processed, filtered, errored } = of.total;
    const counts = [processed, filtered, errored].map((one) => formatNumber(one ?? 0)).join(" + ");
    notes.push([
      "total",
      `All sources together have ${formatNumber(read ?? 0)} rows; the ledger accounts for ${counts}.`,
    ]);
  }
  if (of.missing.length > 0) notes.push(["missing", `Missing: ${of.missing.join(", ")}`]);
  if (of.surplus.length > 0) notes.push(["surplus", `Too many: ${of.surplus.join(", ")}`]);
  if (of.records !== null) notes.push(["records", `Details of each row: ${of.records}`]);
  for (const one of of.notFollowed) {
    notes.push([`not ${one.source}`, <SourceNote key="r" of={one.source} why={one.reason ?? "no reason given"} not />]);
  }
  if (notes.length === 0) return null;
  return (
    <ul className="plain notes" aria-label={countOf(notes.length, "note on the ledger", "notes on the ledger")}>
      {notes.map(([key, words]) => (
        <li key={key} className="row start warn">
          <Icon name="alert" />
          <span className="ink breaks">{words}</span>
        </li>
      ))}
    </ul>
  );
}

function SourceNote({ of, why, not }: { of: string; why: string; not?: boolean }) {
  return (
    <>
      <Name of={of} /> {not && "was not traced: "}
      <LongText of={why} />
    </>
  );
}
