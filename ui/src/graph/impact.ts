/** What breaks if it changes, as numbers and as a file. Pure. */

import type { Schemas } from "../api/client";
import { csvLine } from "../parts/save";
import { isJob, nodeKey } from "./names";

export type Affected = Schemas["Affected"];

export interface ImpactTotals {
  assets: number;
  columns: number;
  jobs: number;
}

export function impactTotals(affected: readonly Affected[]): ImpactTotals {
  const jobs = new Set<string>();
  let columns = 0;
  for (const one of affected) {
    columns += one.columns.filter((column) => column.name !== null).length;
    for (const job of one.jobs) jobs.add(nodeKey(job));
  }
  return { assets: affected.length, columns, jobs: jobs.size };
}

const HEADS = [
  "depth",
  "kind",
  "namespace",
  "name",
  "column",
  "dependency",
  "jobs",
  "owner",
  "last run",
  "state",
  "path",
];

/** One line a column touched; an asset touched as a whole has a line without one. */
export function impactCsv(affected: readonly Affected[]): string {
  const lines = [csvLine(HEADS)];
  for (const one of affected) {
    const columns = one.columns.length > 0 ? one.columns : [{ name: null, dependency: "UNKNOWN" as const }];
    for (const column of columns) {
      lines.push(
        csvLine([
          one.depth,
          isJob(one.endpoint) ? "job" : "dataset",
          one.endpoint.namespace,
          one.endpoint.name,
          column.name,
          column.dependency,
          one.jobs.map((job) => `${job.namespace}/${job.name}`).join("; "),
          one.owner,
          one.latest_run?.run_id ?? null,
          one.latest_run?.state ?? null,
          one.path.join(" → "),
        ]),
      );
    }
  }
  return lines.join("");
}
