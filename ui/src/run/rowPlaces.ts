/** Where the rows behind a band of the ledger can be looked at. */

import { useQueries, useQuery } from "@tanstack/react-query";
import { answer, client, type Schemas } from "../api/client";
import { type Named, sameName, to } from "../app/places";
import type { End } from "./flows";
import type { Part } from "./ledger";
import { deadLettersOf, pipelineSteps } from "./nodes";

const MOST_ASKED = 12; // sources that the server is asked about

export interface Places {
  /** The dataset that the ledger calls so; null where it is a name of the program's. */
  dataset: (source: string) => Named | null;
  rows: (source: string | null, end: End, at: string | null) => string | null;
}

export function usePlaces(detail: Schemas["RunDetail"], part: Part): Places {
  const { inputs, run_facets: facets } = detail;
  const letters = deadLettersOf(facets, detail.outputs);
  const written = detail.outputs.map((use) => use.dataset);
  const kept = written.filter((one) => !letters.some(({ dataset }) => dataset && sameName(dataset, one)));
  const output =
    kept.find((one) => `${one.namespace}/${one.name}` === part.output) ?? (kept.length === 1 ? kept[0] : undefined);
  // A pipeline's ledger has the names of its sources: with one of each, it is clear which is meant.
  const onlyOne = inputs.length === 1 && pipelineSteps(facets).length > 0 && part.accounts.length === 1;
  const dataset = (source: string) =>
    (
      inputs.find((use) => `${use.dataset.namespace}/${use.dataset.name}` === source) ??
      (onlyOne ? inputs[0] : undefined)
    )?.dataset ?? null;
  const sources = part.accounts.slice(0, MOST_ASKED).map((one) => dataset(one.source));
  const named = sources.filter((one) => one !== null);
  const ahead = useQueries({ queries: named.map(askable) });
  const back = useQuery({ ...askable(output ?? { namespace: "", name: "" }), enabled: output !== undefined });
  return {
    dataset,
    rows: (source, end, at) => {
      if (end === "errored") {
        const place = letters.find((one) => at === null || one.node === at)?.dataset;
        return place ? to.rows(place) : null;
      }
      const from = source === null ? null : dataset(source);
      if (from === null || end === "missing") return null;
      if (end === "processed") {
        const can = ahead[named.findIndex((one) => sameName(one, from))]?.data?.forward.possible;
        return can ? to.rows(from, { ask: "forward" }) : null;
      }
      const can = back.data?.spark.possible && back.data.sources.some((one) => sameName(one, from));
      return output && can
        ? to.rows(output, { ask: "why-not", source: from.name, source_namespace: from.namespace })
        : null;
    },
  };
}

function askable(of: Named) {
  return {
    queryKey: ["lineage", "askable", of.namespace, of.name],
    queryFn: () =>
      answer(client.GET("/api/v1/rows/askable", { params: { query: { dataset: of.name, namespace: of.namespace } } })),
    retry: false,
  };
}
