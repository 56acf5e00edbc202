/** Links from the ledger to the rows behind its numbers. */

import { useQueries, useQuery } from "@tanstack/react-query";
import { client, responseData, type Schemas } from "../api/client";
import { type QualifiedName, sameName, to } from "../app/addresses";
import type { RowOutcome } from "./flows";
import type { Part } from "./ledger";
import { deadLettersOf, pipelineSteps } from "./step-rows";

const MOST_ASKED = 12; // maximum number of sources to query

export interface LedgerLinks {
  /** The dataset that the ledger calls so; null where it is a name of the program's. */
  dataset: (source: string) => QualifiedName | null;
  rows: (source: string | null, end: RowOutcome, at: string | null) => string | null;
}

export function useLedgerLinks(detail: Schemas["RunDetail"], part: Part): LedgerLinks {
  const { inputs, run_facets: facets } = detail;
  const letters = deadLettersOf(facets, detail.outputs);
  const written = detail.outputs.map((use) => use.dataset);
  const outputs = written.filter((one) => !letters.some(({ dataset }) => dataset && sameName(dataset, one)));
  const output =
    outputs.find((one) => `${one.namespace}/${one.name}` === part.output) ??
    (outputs.length === 1 ? outputs[0] : undefined);
  // A pipeline's ledger has the names of its sources: with one of each, it is clear which is meant.
  const onlyOne = inputs.length === 1 && pipelineSteps(facets).length > 0 && part.accounts.length === 1;
  const dataset = (source: string) =>
    (
      inputs.find((use) => `${use.dataset.namespace}/${use.dataset.name}` === source) ??
      (onlyOne ? inputs[0] : undefined)
    )?.dataset ?? null;
  const sources = part.accounts.slice(0, MOST_ASKED).map((one) => dataset(one.source));
  const named = sources.filter((one) => one !== null);
  const ahead = useQueries({ queries: named.map(rowAvailability) });
  const back = useQuery({ ...rowAvailability(output ?? { namespace: "", name: "" }), enabled: output !== undefined });
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

function rowAvailability(of: QualifiedName) {
  return {
    queryKey: ["lineage", "askable", of.namespace, of.name],
    queryFn: () =>
      responseData(
        client.GET("/api/v1/rows/askable", { params: { query: { dataset: of.name, namespace: of.namespace } } }),
      ),
    retry: false,
  };
}
