/** The account of the rows that a run read: in = processed + filtered + errored, source by source. Pure. */

import { count, type Facets, members, nameIn, objects, text, texts, yesOrNo } from "./facets";

export const LEDGER = "cdme.accountingLedger";

/** The outcome of the rows of one source for one output. A missing count is null. */
export interface Account {
  source: string;
  read: number | null;
  processed: number | null;
  filtered: number | null;
  errored: number | null;
  balanced: boolean | null;
  /** Whether the outcome of every row is known; otherwise only counts are. */
  exact: boolean;
  note: string | null;
  /** Files to which rows are attributed although they cannot contain them. */
  beyond: string[];
}

export interface UntracedSource {
  source: string;
  reason: string | null;
}

/** The account of one output, or of the whole run where it has only one. */
export interface Part {
  output: string | null;
  accounts: Account[];
  /** Of all sources together, where the ledger sums them up. */
  total: Account | null;
  notFollowed: UntracedSource[];
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
  const facet = members(facets[LEDGER]);
  const outputs = objects(facet.outputs);
  const parts = (outputs.length > 0 ? outputs : [facet]).map(partOf);
  const verdicts = outputs.length > 0 ? [yesOrNo(facet.balanced), ...parts.map(balanceOf)] : parts.map(balanceOf);
  const known = outputs.length > 0 ? verdicts.slice(1) : verdicts;
  const balanced = verdicts.includes(false) ? false : known.every((one) => one === true) ? true : null;
  return { parts, balanced, inNumber: parts.some((part) => part.accounts.some((account) => !account.exact)) };
}

function partOf(facet: Facets): Part {
  return {
    output: text(facet.output),
    accounts: accountsOf(facet),
    total: facet.inputRecordCount === undefined ? null : { ...accountOf("all sources", facet), exact: true },
    notFollowed: objects(facet.notFollowed).map((one) => ({ source: nameIn(one), reason: text(one.reason) })),
    partly: text(facet.partly),
    balanced: yesOrNo(facet.balanced),
    missing: texts(facet.missing),
    surplus: texts(facet.surplus),
    records: text(facet.records),
  };
}

function accountsOf(facet: Facets): Account[] {
  const named: [string, Facets][] = Array.isArray(facet.sources)
    ? objects(facet.sources).map((one) => [nameIn(one), one])
    : Object.entries(members(facet.sources)).map(([name, one]) => [name, members(one)]);
  const accounts = named
    .filter(([, one]) => one.inputRecordCount !== undefined)
    .map(([name, one]) => accountOf(name, one));
  if (accounts.length > 0 || facet.inputRecordCount === undefined) return accounts;
  return [accountOf("all sources", facet)];
}

function accountOf(source: string, facet: Facets): Account {
  return {
    source,
    read: count(facet.inputRecordCount),
    processed: count(facet.processedCount),
    filtered: count(facet.filteredCount),
    errored: count(facet.erroredCount),
    balanced: yesOrNo(facet.balanced),
    exact: facet.exact !== false,
    note: text(facet.note),
    beyond: texts(facet.beyond),
  };
}

/** Rows in none of the three; below zero where there are more than were read. */
export function unaccounted(account: Account): number | null {
  const facet = [account.processed, account.filtered, account.errored].filter((one) => one !== null);
  return account.read === null || facet.length === 0 ? null : account.read - facet.reduce((sum, one) => sum + one, 0);
}

/** By its counts; what the producer says of itself counts only where it says "no". */
export function balanceOfAccount(account: Account): boolean | null {
  const left = unaccounted(account);
  if (account.balanced === false || account.beyond.length > 0) return false;
  return left === null ? null : left === 0;
}

export function balanceOf(part: Part): boolean | null {
  const accounts = [...part.accounts, ...(part.total === null ? [] : [part.total])].map(balanceOfAccount);
  if (part.balanced === false) return false;
  if (part.partly !== null) return null; // where not all rows were followed, their counts need not add up
  if (accounts.includes(false)) return false;
  if (part.notFollowed.length > 0 || accounts.length === 0 || accounts.includes(null)) return null;
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
