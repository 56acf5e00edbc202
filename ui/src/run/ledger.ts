/** The account of the rows that a run read: in = processed + filtered + errored, source by source. Pure. */

import { count, type Facets, listed, members, nameIn, text, texts, yesOrNo } from "./facets";

export const LEDGER = "cdme.accountingLedger";

/** What became of the rows of one source, on their way to one output. A count that was not told is null. */
export interface Account {
  source: string;
  read: number | null;
  processed: number | null;
  filtered: number | null;
  errored: number | null;
  balanced: boolean | null;
  /** Whether it is known of every row what became of it; else only how many there are. */
  exact: boolean;
  note: string | null;
  /** Where rows are said to be from that cannot have them. */
  beyond: string[];
}

export interface NotFollowed {
  source: string;
  reason: string | null;
}

/** The account of one output, or of the whole run where it has only one. */
export interface Part {
  output: string | null;
  accounts: Account[];
  /** Of all sources together, where the ledger sums them up. */
  total: Account | null;
  notFollowed: NotFollowed[];
  partly: string | null;
  balanced: boolean | null;
  missing: string[];
  surplus: string[];
  /** Where all that is known of each row was written. */
  records: string | null;
}

export interface Ledger {
  parts: Part[];
  balanced: boolean | null;
  /** Of some sources the rows were counted, and not followed one by one. */
  inNumber: boolean;
}

export function ledgerOf(facets: Facets): Ledger | null {
  if (facets[LEDGER] === undefined) return null;
  const told = members(facets[LEDGER]);
  const outputs = listed(told.outputs);
  const parts = (outputs.length > 0 ? outputs : [told]).map(partOf);
  const said = outputs.length > 0 ? [yesOrNo(told.balanced), ...parts.map(balanceOf)] : parts.map(balanceOf);
  const known = outputs.length > 0 ? said.slice(1) : said;
  const balanced = said.includes(false) ? false : known.every((one) => one === true) ? true : null;
  return { parts, balanced, inNumber: parts.some((part) => part.accounts.some((each) => !each.exact)) };
}

function partOf(told: Facets): Part {
  return {
    output: text(told.output),
    accounts: accountsOf(told),
    total: told.inputRecordCount === undefined ? null : { ...accountOf("all sources", told), exact: true },
    notFollowed: listed(told.notFollowed).map((one) => ({ source: nameIn(one), reason: text(one.reason) })),
    partly: text(told.partly),
    balanced: yesOrNo(told.balanced),
    missing: texts(told.missing),
    surplus: texts(told.surplus),
    records: text(told.records),
  };
}

function accountsOf(told: Facets): Account[] {
  const named: [string, Facets][] = Array.isArray(told.sources)
    ? listed(told.sources).map((one) => [nameIn(one), one])
    : Object.entries(members(told.sources)).map(([name, one]) => [name, members(one)]);
  const found = named
    .filter(([, one]) => one.inputRecordCount !== undefined)
    .map(([name, one]) => accountOf(name, one));
  if (found.length > 0 || told.inputRecordCount === undefined) return found;
  return [accountOf("all sources", told)];
}

function accountOf(source: string, told: Facets): Account {
  return {
    source,
    read: count(told.inputRecordCount),
    processed: count(told.processedCount),
    filtered: count(told.filteredCount),
    errored: count(told.erroredCount),
    balanced: yesOrNo(told.balanced),
    exact: told.exact !== false,
    note: text(told.note),
    beyond: texts(told.beyond),
  };
}

/** Rows in none of the three; below zero where there are more than were read. */
export function unaccounted(account: Account): number | null {
  const told = [account.processed, account.filtered, account.errored].filter((one) => one !== null);
  return account.read === null || told.length === 0 ? null : account.read - told.reduce((sum, one) => sum + one, 0);
}

/** By its counts; what the producer says of itself counts only where it says "no". */
export function balanceOfAccount(account: Account): boolean | null {
  const left = unaccounted(account);
  if (account.balanced === false || account.beyond.length > 0) return false;
  return left === null ? null : left === 0;
}

export function balanceOf(part: Part): boolean | null {
  const found = [...part.accounts, ...(part.total === null ? [] : [part.total])].map(balanceOfAccount);
  if (part.balanced === false) return false;
  if (part.partly !== null) return null; // where not all rows were followed, their counts need not add up
  if (found.includes(false)) return false;
  if (part.notFollowed.length > 0 || found.length === 0 || found.includes(null)) return null;
  return true;
}

/** Rows read by all sources; null where the run has an account for each of several outputs, or one is not known. */
export function rowsRead(ledger: Ledger): number | null {
  const [only, more] = ledger.parts;
  if (only === undefined || more !== undefined || only.notFollowed.length > 0 || only.accounts.length === 0)
    return null;
  return only.accounts.reduce<number | null>(
    (sum, one) => (sum === null || one.read === null ? null : sum + one.read),
    0,
  );
}
