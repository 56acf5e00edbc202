/** Every view has an address that can be sent. Names travel in its query: they may hold anything, slashes too. */

export interface Named {
  namespace: string;
  name: string;
}

type Query = Record<string, string | number | boolean | null | undefined>;

export function address(path: string, query: Query = {}): string {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "" && value !== false) words.set(key, String(value));
  }
  const text = words.toString();
  return text ? `${path}?${text}` : path;
}

export const to = {
  home: () => "/",
  map: (namespace?: string) => address("/map", { namespace }),
  explore: (dataset: Named, more: { column?: string | null; at?: string | null } = {}) =>
    address("/explore", { namespace: dataset.namespace, name: dataset.name, ...more }),
  runs: (filter: { state?: string; job?: string; namespace?: string } = {}) => address("/runs", filter),
  run: (id: string) => address("/run", { id }),
  diff: (before: string, after: string) => address("/diff", { before, after }),
  job: (job: Named) => address("/runs", { namespace: job.namespace, job: job.name }),
  rows: (dataset: Named, more: Query = {}) =>
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

/** One word for a dataset or a job, to be a key of maps: no namespace can hold what stands between. */
export function keyOf(named: Named): string {
  return JSON.stringify([named.namespace, named.name]);
}

export function sameName(one: Named, other: Named): boolean {
  return one.namespace === other.namespace && one.name === other.name;
}
