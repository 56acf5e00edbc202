import { Link } from "wouter";
import { to } from "../app/addresses";
import { Badge } from "../parts/Badge";
import { formatNumber } from "../parts/format";
import { Name } from "../parts/Name";
import type { RowOutcome } from "./flows";
import { type Account, balanceOfAccount, type Part, unaccounted } from "./ledger";
import type { LedgerLinks } from "./ledger-links";

/** The picture in numbers. Under the picture it is there for who cannot see it. */
export function LedgerTable({ part, places, hidden }: { part: Part; places: LedgerLinks; hidden: boolean }) {
  return (
    <div className={hidden ? "sr-only" : "scroll"}>
      <table aria-label="Ledger by source">
        <thead>
          <tr>
            <th>Source</th>
            <th className="number">Read</th>
            <th className="number">Processed</th>
            <th className="number">Filtered out</th>
            <th className="number">Errored</th>
            <th className="number">Unaccounted</th>
            <th>Balance</th>
          </tr>
        </thead>
        <tbody>
          {part.accounts.map((account, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a source may be read twice
            <AccountRow key={number} account={account} places={places} hidden={hidden} partly={part.partly !== null} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AccountRow({
  account,
  places,
  hidden,
  partly,
}: {
  account: Account;
  places: LedgerLinks;
  hidden: boolean;
  partly: boolean;
}) {
  const dataset = places.dataset(account.source);
  const left = unaccounted(account);
  const source = <Name of={account.source} />;
  return (
    <tr>
      <td className="cell-name">
        {dataset === null || hidden ? source : <Link href={to.explore(dataset)}>{source}</Link>}
      </td>
      <td className="number">{countText(account.read)}</td>
      {(["processed", "filtered", "errored"] as const).map((end) => (
        <td key={end} className="number">
          <RowCount account={account} end={end} places={places} hidden={hidden} />
        </td>
      ))}
      <td className="number">{left !== null && left < 0 ? `${formatNumber(-left)} too many` : countText(left)}</td>
      <td>
        <Balance holds={partly ? null : balanceOfAccount(account)} exact={account.exact} />
      </td>
    </tr>
  );
}

function RowCount({
  account,
  end,
  places,
  hidden,
}: {
  account: Account;
  end: Exclude<RowOutcome, "missing">;
  places: LedgerLinks;
  hidden: boolean;
}) {
  const rows = account[end];
  // What is out of sight must not take the focus: the bands have the same links.
  const place = hidden || !rows ? null : places.rows(account.source, end, null);
  return place === null ? countText(rows) : <Link href={place}>{countText(rows)}</Link>;
}

function Balance({ holds, exact }: { holds: boolean | null; exact: boolean }) {
  if (holds === null) return <Badge tone="warn" icon="unknown" word="unknown" />;
  if (!holds) return <Badge tone="bad" icon="cross" word="not balanced" />;
  return <Badge tone="good" icon="check" word={exact ? "balanced" : "balanced by count"} />;
}

function countText(value: number | null): string {
  return value === null ? "unknown" : formatNumber(value);
}
