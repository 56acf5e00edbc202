/** A ledger as streams: from each source to what became of its rows, and the step where they left. Pure. */

import { type Account, type Part, unaccounted } from "./ledger";
import type { StepRow } from "./step-rows";

export type RowOutcome = "processed" | "filtered" | "errored" | "missing";

export interface FlowNode {
  id: string;
  /** Which end of the stream it is; a source has none. */
  end: RowOutcome | null;
  label: string;
  rows: number;
}

export interface FlowLink {
  source: string;
  target: string;
  value: number;
  end: RowOutcome;
  /** The source whose rows these are; null where several have flown together. */
  of: string | null;
  at: string | null;
}

export interface Flow {
  nodes: FlowNode[];
  links: FlowLink[];
}

const ENDS: RowOutcome[] = ["processed", "filtered", "errored", "missing"];
export const OUTCOME_LABELS: Record<RowOutcome, string> = {
  processed: "processed",
  filtered: "filtered out",
  errored: "errored",
  missing: "unaccounted",
};

type Shares = Partial<Record<RowOutcome, [step: string, rows: number][]>>;

export function flowOf(part: Part, steps: readonly StepRow[] = []): Flow {
  const nodes = new Map<string, FlowNode>();
  const links: FlowLink[] = [];
  const shares = sharesOf(part.accounts, steps);
  const single = part.accounts.length === 1;
  part.accounts.forEach((account, number) => {
    const source = `source ${number}`;
    nodes.set(source, { id: source, end: null, label: account.source, rows: account.read ?? 0 });
    for (const end of ENDS) {
      const value = rowsAt(account, end);
      if (value <= 0) continue;
      const split = single ? shares[end] : undefined;
      if (split === undefined) addLink(nodes, links, { source, value, end, of: account.source, at: null });
      else for (const [at, rows] of split) addLink(nodes, links, { source, value: rows, end, of: account.source, at });
    }
  });
  // With several sources, steps record how many rows they removed, not whose.
  if (!single) {
    for (const end of ENDS) {
      for (const [at, value] of shares[end] ?? []) addLink(nodes, links, { source: end, value, end, of: null, at });
    }
  }
  return { nodes: [...nodes.values()], links };
}

function addLink(nodes: Map<string, FlowNode>, links: FlowLink[], link: Omit<FlowLink, "target">): void {
  const target = link.at === null ? link.end : `${link.end} at ${link.at}`;
  const known = nodes.get(target);
  const label = link.at === null ? OUTCOME_LABELS[link.end] : `${OUTCOME_LABELS[link.end]} at ${link.at}`;
  nodes.set(target, { id: target, end: link.end, label, rows: (known?.rows ?? 0) + link.value });
  links.push({ ...link, target });
}

export function rowsAt(account: Account, end: RowOutcome): number {
  return end === "missing" ? Math.max(unaccounted(account) ?? 0, 0) : (account[end] ?? 0);
}

/** The steps that removed rows, if their counts add up to the account; otherwise none, because the steps are uncertain. */
function sharesOf(accounts: readonly Account[], steps: readonly StepRow[]): Shares {
  const leavers: [RowOutcome, [string, number][]][] = [
    ["filtered", stepsRemovingRows(steps, "filtered")],
    ["errored", stepsRemovingRows(steps, "deadLetters")],
  ];
  const result: Shares = {};
  for (const [end, shares] of leavers) {
    const wanted = accounts.reduce((sum, account) => sum + rowsAt(account, end), 0);
    if (wanted > 0 && shares.reduce((sum, [, rows]) => sum + rows, 0) === wanted) result[end] = shares;
  }
  return result;
}

function stepsRemovingRows(steps: readonly StepRow[], key: "filtered" | "deadLetters"): [string, number][] {
  return steps.map((step): [string, number] => [step.name, step[key] ?? 0]).filter(([, rows]) => rows > 0);
}
