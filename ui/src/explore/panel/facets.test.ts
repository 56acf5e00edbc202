import { expect, it } from "vitest";
import { codeOf, coverageOf, descriptionOf, qualityOf, storageOf, uriOf } from "./facets";

const NONSENSE: Record<string, unknown>[] = [
  {},
  {
    headwater_coverage: null,
    sql: 3,
    dataQualityMetrics: [],
    dataQualityAssertions: "x",
    documentation: { description: {} },
  },
  {
    headwater_coverage: { gaps: [null, 1, {}] },
    sql: { query: [] },
    dataQualityMetrics: { columnMetrics: [1], rowCount: "9" },
  },
  { dataQualityAssertions: { assertions: { length: 3 } }, storage: "s3", dataSource: { uri: 1 } },
];

it("parses any content without an error", () => {
  for (const facets of NONSENSE) {
    expect(codeOf(facets).sql).toBeNull();
    expect(qualityOf(facets, undefined)).toMatchObject({ rows: null, columns: [], assertions: [] });
    expect([descriptionOf(facets), storageOf(facets), uriOf(facets)]).toEqual([null, null, null]);
    expect(coverageOf(facets).complete).toBeNull();
  }
  expect(coverageOf(NONSENSE[2] ?? {}).gaps).toEqual([{ operator: "a step", reason: "no reason given", columns: [] }]);
});

it("lists gaps with their reasons", () => {
  const facets = {
    headwater_coverage: { complete: false, gaps: [{ operator: "MapInArrow", reason: "opaque", columns: ["a", 1] }] },
  };
  expect(coverageOf(facets)).toEqual({
    complete: false,
    gaps: [{ operator: "MapInArrow", reason: "opaque", columns: ["a"] }],
  });
});

it("reads measurements from the first facet that has them", () => {
  const assertion = { assertions: [{ assertion: "unique", success: false, column: "b" }] };
  const quality = qualityOf(
    { dataQualityAssertions: assertion },
    { dataQualityAssertions: assertion, outputStatistics: { rowCount: 5, size: 80 } },
    { dataQualityMetrics: { columnMetrics: { a: { nullCount: 0, min: 1 }, b: 7 } } },
  );
  expect(quality.rows).toBe(5);
  expect(quality.assertions).toEqual([{ what: "unique", column: "b", success: false, severity: null }]);
  expect(quality.columns).toEqual([{ column: "a", nulls: 0, distinct: null, count: null, min: "1", max: null }]);
});
