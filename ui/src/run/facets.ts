/** Facets are what a producer chose to say: each is read as far as it can be, and what is of another shape is left out. */

export type Facets = Record<string, unknown>;

export function members(value: unknown): Facets {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Facets) : {};
}

export function objects(value: unknown): Facets[] {
  return Array.isArray(value) ? value.filter((one) => Object.keys(members(one)).length > 0) : [];
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

export function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** A count: whole numbers have no signs here, and nothing is read from a text. */
export function count(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

export function yesOrNo(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

/** The name of a dataset given as one text, or as namespace and name. */
export function nameIn(facet: Facets): string {
  for (const key of ["dataset", "source", "name"]) {
    const named = facet[key];
    if (typeof named === "string") return named;
    const { namespace, name } = members(named);
    if (typeof name === "string") return typeof namespace === "string" ? `${namespace}/${name}` : name;
  }
  return "a source without a name";
}

/** A single value in words; what is made of several is shown as JSON. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
