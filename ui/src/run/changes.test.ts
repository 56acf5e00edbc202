import { describe, expect, it } from "vitest";
import { describeChange, summary } from "./changes";
import { chronological, filterIn, sinceMoment } from "./filters";

const change = (before: unknown, after: unknown) => describeChange({ what: "", name: "a", before, after });

describe("a change", () => {
  it("is an addition, a removal or a change", () => {
    expect(change(null, "long")).toMatchObject({ kind: "added", before: null, after: "long" });
    expect(change("long", null)).toMatchObject({ kind: "removed", before: "long", after: null });
    expect(change("long", "int")).toMatchObject({ kind: "changed", before: "long", after: "int" });
  });

  it("names a dataset's version and partitions", () => {
    expect(change({ partitions: ["d=1", "d=2"], version: 3 }, null).before).toBe("version 3, partitions d=1, d=2");
    expect(change({ partitions: [], version: null }, null)).toMatchObject({ kind: "removed", before: null });
  });

  it("shows the logic of a column", () => {
    const how = { dependency: "DIRECT", subtype: "AGGREGATION", masking: true, logic: "sum(a)" };
    expect(change([how], [{ dependency: "INDIRECT" }, 3])).toMatchObject({
      before: "direct, AGGREGATION, masked, sum(a)",
      after: "indirect; 3",
    });
  });

  it("is counted by kind", () => {
    expect(summary([change(null, 1), change(null, 2), change(1, null)])).toBe("2 added, 1 removed");
  });
});

describe("the filters of a list of runs", () => {
  it("is read from the address, without unknown values", () => {
    expect(filterIn(new URLSearchParams("state=FAIL&job=a%2Fb&since=24h"))).toMatchObject({
      state: "FAIL",
      job: "a/b",
      namespace: null,
      since: "24h",
    });
    expect(filterIn(new URLSearchParams("state=fine&since=soon"))).toMatchObject({ state: null, since: null });
  });

  it("is a period up to now, or a time", () => {
    expect(sinceMoment("1h", Date.parse("2026-01-01T01:00:00Z"))).toBe("2026-01-01T00:00:00.000Z");
    expect(sinceMoment("2026-01-01T00:00:00Z", 0)).toBe("2026-01-01T00:00:00.000Z");
    expect(sinceMoment("soon", 0)).toBeNull();
  });

  it("puts the earlier of two runs first", () => {
    const run = (run_id: string, started_at: string | null, last_event_at = "2026-01-03T00:00:00Z") => ({
      ...{ run_id, started_at, last_event_at, ended_at: null, nominal_start: null, nominal_end: null },
      ...{ parent_run_id: null, state: "COMPLETE" as const, job: { type: "job" as const, namespace: "n", name: "j" } },
    });
    expect(chronological(run("b", "2026-01-02T00:00:00Z"), run("a", "2026-01-01T00:00:00Z"))).toEqual(["a", "b"]);
    expect(chronological(run("b", null), run("a", "2026-01-01T00:00:00Z"))).toEqual(["a", "b"]);
  });
});
