/** Facets that the panel reads. Whoever sends them may send anything: what is not as it should be is left out. */

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;
const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const facet = (facets: JsonObject | undefined, name: string): JsonObject => {
  const value = facets?.[name];
  return isObject(value) ? value : {};
};

export interface CoverageGap {
  operator: string;
  reason: string;
  columns: string[];
}

export interface Coverage {
  complete: boolean | null;
  gaps: CoverageGap[];
}

export function coverageOf(facets: JsonObject): Coverage {
  const coverage = facet(facets, "headwater_coverage");
  return {
    complete: typeof coverage.complete === "boolean" ? coverage.complete : null,
    gaps: listOf(coverage.gaps).map((gap) => ({
      operator: textOf(gap.operator) ?? "a step",
      reason: textOf(gap.reason) ?? "no reason given",
      columns: Array.isArray(gap.columns) ? gap.columns.filter((column) => typeof column === "string") : [],
    })),
  };
}

export function descriptionOf(facets: JsonObject): string | null {
  return textOf(facet(facets, "documentation").description);
}

export function storageOf(facets: JsonObject): string | null {
  const storage = facet(facets, "storage");
  return [storage.storageLayer, storage.fileFormat].flatMap((part) => textOf(part) ?? []).join(", ") || null;
}

export function uriOf(facets: JsonObject): string | null {
  return textOf(facet(facets, "dataSource").uri);
}

export interface Code {
  sql: string | null;
  dialect: string | null;
  source: string | null;
  language: string | null;
  place: string | null;
}

export function codeOf(facets: JsonObject): Code {
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

/** Metrics from the first facets that have them: those of the dataset, then those of its last write. */
export function qualityOf(...places: (JsonObject | undefined)[]): Quality {
  const all = (name: string) =>
    places.map((facets) => facet(facets, name)).filter((one) => Object.keys(one).length > 0);
  const [metrics = {}] = all("dataQualityMetrics");
  const [written = {}] = all("outputStatistics");
  const columns = isObject(metrics.columnMetrics) ? metrics.columnMetrics : {};
  return {
    rows: numberOf(metrics.rowCount) ?? numberOf(written.rowCount),
    bytes: numberOf(metrics.bytes) ?? numberOf(written.size),
    files: numberOf(metrics.fileCount) ?? numberOf(written.fileCount),
    columns: Object.entries(columns).flatMap(([column, values]) =>
      isObject(values)
        ? [
            {
              column,
              nulls: numberOf(values.nullCount),
              distinct: numberOf(values.distinctCount),
              count: numberOf(values.count),
              min: scalarText(values.min),
              max: scalarText(values.max),
            },
          ]
        : [],
    ),
    assertions: all("dataQualityAssertions")
      .slice(0, 1)
      .flatMap((assertions) =>
        listOf(assertions.assertions).map((one) => ({
          what: textOf(one.assertion) ?? textOf(one.name) ?? "an assertion",
          column: textOf(one.column),
          success: typeof one.success === "boolean" ? one.success : null,
          severity: textOf(one.severity),
        })),
      ),
  };
}

function scalarText(value: unknown): string | null {
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}
