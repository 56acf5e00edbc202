/** Facets that the panel reads. Whoever sends them may send anything: what is not as it should be is left out. */

type Loose = Record<string, unknown>;

const isObject = (value: unknown): value is Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;
const listOf = (value: unknown): Loose[] => (Array.isArray(value) ? value.filter(isObject) : []);
const facet = (facets: Loose | undefined, name: string): Loose => {
  const found = facets?.[name];
  return isObject(found) ? found : {};
};

export interface Gap {
  operator: string;
  reason: string;
  columns: string[];
}

export interface Coverage {
  complete: boolean | null;
  gaps: Gap[];
}

export function coverageOf(facets: Loose): Coverage {
  const told = facet(facets, "headwater_coverage");
  return {
    complete: typeof told.complete === "boolean" ? told.complete : null,
    gaps: listOf(told.gaps).map((gap) => ({
      operator: textOf(gap.operator) ?? "a step",
      reason: textOf(gap.reason) ?? "no reason is told",
      columns: Array.isArray(gap.columns) ? gap.columns.filter((column) => typeof column === "string") : [],
    })),
  };
}

export function descriptionOf(facets: Loose): string | null {
  return textOf(facet(facets, "documentation").description);
}

export function storageOf(facets: Loose): string | null {
  const told = facet(facets, "storage");
  return [told.storageLayer, told.fileFormat].flatMap((part) => textOf(part) ?? []).join(", ") || null;
}

export function uriOf(facets: Loose): string | null {
  return textOf(facet(facets, "dataSource").uri);
}

export interface Code {
  sql: string | null;
  dialect: string | null;
  source: string | null;
  language: string | null;
  place: string | null;
}

export function codeOf(facets: Loose): Code {
  const [sql, source, place] = [facet(facets, "sql"), facet(facets, "sourceCode"), facet(facets, "sourceCodeLocation")];
  return {
    sql: textOf(sql.query),
    dialect: textOf(sql.dialect),
    source: textOf(source.sourceCode),
    language: textOf(source.language),
    place: textOf(place.url) ?? textOf(place.path),
  };
}

export interface Assertion {
  what: string;
  column: string | null;
  success: boolean | null;
  severity: string | null;
}

export interface ColumnMetrics {
  column: string;
  nulls: number | null;
  distinct: number | null;
  count: number | null;
  min: string | null;
  max: string | null;
}

export interface Quality {
  rows: number | null;
  bytes: number | null;
  files: number | null;
  columns: ColumnMetrics[];
  assertions: Assertion[];
}

/** From the first of these facets that tells: of the dataset, of its last writing. */
export function qualityOf(...places: (Loose | undefined)[]): Quality {
  const all = (name: string) =>
    places.map((facets) => facet(facets, name)).filter((found) => Object.keys(found).length > 0);
  const [metrics = {}] = all("dataQualityMetrics");
  const [written = {}] = all("outputStatistics");
  const columns = isObject(metrics.columnMetrics) ? metrics.columnMetrics : {};
  return {
    rows: numberOf(metrics.rowCount) ?? numberOf(written.rowCount),
    bytes: numberOf(metrics.bytes) ?? numberOf(written.size),
    files: numberOf(metrics.fileCount) ?? numberOf(written.fileCount),
    columns: Object.entries(columns).flatMap(([column, told]) =>
      isObject(told)
        ? [
            {
              column,
              nulls: numberOf(told.nullCount),
              distinct: numberOf(told.distinctCount),
              count: numberOf(told.count),
              min: plain(told.min),
              max: plain(told.max),
            },
          ]
        : [],
    ),
    assertions: all("dataQualityAssertions")
      .slice(0, 1)
      .flatMap((told) =>
        listOf(told.assertions).map((one) => ({
          what: textOf(one.assertion) ?? textOf(one.name) ?? "an assertion",
          column: textOf(one.column),
          success: typeof one.success === "boolean" ? one.success : null,
          severity: textOf(one.severity),
        })),
      ),
  };
}

function plain(value: unknown): string | null {
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}
