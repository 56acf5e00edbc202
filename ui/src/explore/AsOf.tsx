import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { dataset } from "../api/queries";
import { exactTime } from "../parts/format";
import type { ExplorerProps } from "./Explorer";

/** The graph as it was: at a moment, or at one of the versions of the dataset. */
export function AsOf({ root, where, move }: ExplorerProps) {
  const detail = useQuery(dataset(root));
  const versions = detail.data?.versions;
  const moments = useMemo(() => {
    const written = (versions ?? []).map((version) => version.written_at);
    return [...new Set(written)].sort((one, other) => Date.parse(one) - Date.parse(other));
  }, [versions]);
  const { at } = where;
  const place = at === null ? moments.length : moments.findLastIndex((moment) => Date.parse(moment) <= Date.parse(at));
  return (
    <fieldset className="as-of row">
      <legend className="sr-only">As of</legend>
      <label className="row" title="In UTC">
        As of
        <input
          type="datetime-local"
          step="1"
          value={at === null ? "" : new Date(at).toISOString().slice(0, 19)}
          onChange={(event) => move({ at: event.target.value === "" ? null : `${event.target.value}Z` })}
        />
      </label>
      {moments.length > 0 && (
        <input
          type="range"
          aria-label="Version"
          aria-valuetext={at === null ? "now" : exactTime(at)}
          title={at === null ? "Now. Move left for earlier versions." : exactTime(at)}
          min={0}
          max={moments.length}
          value={Math.max(place, 0)}
          onChange={(event) => move({ at: moments[Number(event.target.value)] ?? null }, true)}
        />
      )}
      <button type="button" className="quiet" disabled={at === null} onClick={() => move({ at: null })}>
        Now
      </button>
    </fieldset>
  );
}
