/** Every view has an address that can be sent. Names travel in its query: they may hold anything, slashes too. */

export interface QualifiedName {
  namespace: string;
  name: string;
}

type Query = Record<string, string | number | boolean | null | undefined>;

export function address(path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "" && value !== false) params.set(key, String(value));
  }
  const text = params.toString();
  return text ? `${path}?${text}` : path;
}

export const to = {
  home: () => "/",
  map: (namespace?: string) => address("/map", { namespace }),
  explore: (dataset: QualifiedName, more: { column?: string | null; at?: string | null } = {}) =>
    address("/explore", { namespace: dataset.namespace, name: dataset.name, ...more }),
  runs: (filter: { state?: string; job?: string; namespace?: string } = {}) => address("/runs", filter),
  run: (id: string) => address("/run", { id }),
  diff: (before: string, after: string) => address("/diff", { before, after }),
  job: (job: QualifiedName) => address("/runs", { namespace: job.namespace, job: job.name }),
  rows: (dataset: QualifiedName, more: Query = {}) =>
    address("/rows", { namespace: dataset.namespace, name: dataset.name, ...more }),
  records: (root?: string) => address("/records", { root }),
  audit: (filter: Query = {}) => address("/audit", filter),
  keys: () => "/keys",
};

/** The server answers each of these with the page itself (`server/routes/page.py` lists them too). */
export const PATHS = [
  "/",
  "/map",
  "/explore",
  "/runs",
  "/run",
  "/diff",
  "/rows",
  "/records",
  "/audit",
  "/keys",
] as const;

/** A map key for a dataset or a job. JSON, because namespaces and names may contain any separator. */
export function nameKey(named: QualifiedName): string {
  return JSON.stringify([named.namespace, named.name]);
}

export function sameName(one: QualifiedName, other: QualifiedName): boolean {
  return one.namespace === other.namespace && one.name === other.name;
}
