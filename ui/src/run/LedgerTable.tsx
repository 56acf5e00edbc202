import { Link } from "wouter";
import { to } from "../app/places";
import { Name } from "../parts/Name";
import { Mark } from "../parts/State";
import { amount } from "../parts/words";
import type { End } from "./flows";
import { type Account, balanceOfAccount, type Part, unaccounted } from "./ledger";
import type { Places } from "./rowPlaces";

/** The picture in numbers. Under the picture it is there for who cannot see it. */
export function LedgerTable({ part, places, hidden }: { part: Part; places: Places; hidden: boolean }) {
  return (
    <div className={hidden ? "sr-only" : "scroll"}>
      <table aria-label="The ledger: rows of each source">
        <thead>
          <tr>
            <th>Source</th>
            <th className="number">Read</th>
            <th className="number">Processed</th>
            <th className="number">Filtered out</th>
            <th className="number">Errored</th>
            <th className="number">Not accounted for</th>
            <th>Balance</th>
          </tr>
        </thead>
        <tbody>
          {part.accounts.map((account, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a source may be read twice
            <Line key={number} account={account} places={places} hidden={hidden} partly={part.partly !== null} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({
  account,
  places,
  hidden,
  partly,
}: {
  account: Account;
  places: Places;
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
      <td className="number">{told(account.read)}</td>
      {(["processed", "filtered", "errored"] as const).map((end) => (
        <td key={end} className="number">
          <Rows account={account} end={end} places={places} hidden={hidden} />
        </td>
      ))}
      <td className="number">{left !== null && left < 0 ? `${amount(-left)} too many` : told(left)}</td>
      <td>
        <Balance holds={partly ? null : balanceOfAccount(account)} exact={account.exact} />
      </td>
    </tr>
  );
}

function Rows({
  account,
  end,
  places,
  hidden,
}: {
  account: Account;
  end: Exclude<End, "missing">;
  places: Places;
  hidden: boolean;
}) {
  const rows = account[end];
  // What is out of sight must not take the focus: the bands have the same links.
  const place = hidden || !rows ? null : places.rows(account.source, end, null);
  return place === null ? told(rows) : <Link href={place}>{told(rows)}</Link>;
}

function Balance({ holds, exact }: { holds: boolean | null; exact: boolean }) {
  if (holds === null) return <Mark tone="warn" icon="unknown" word="unknown" />;
  if (!holds) return <Mark tone="bad" icon="cross" word="not balanced" />;
  return <Mark tone="good" icon="check" word={exact ? "balanced" : "balanced in number"} />;
}

function told(value: number | null): string {
  return value === null ? "not told" : amount(value);
}
