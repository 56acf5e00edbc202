/** The steps of a run with rows and times, from a declared pipeline or from Spark's plan. Pure. */

import { count, type Facets, members, nameIn, objects, text } from "./facets";

export interface StepRow {
  name: string;
  kind: string | null;
  /** Depth below the write: the inputs of a step are below it. */
  depth: number;
  rows: number | null;
  milliseconds: number | null;
  bytes: number | null;
  filtered: number | null;
  deadLetters: number | null;
  retried: number | null;
  /** Why no lineage through this step, where it does not. */
  gap: string | null;
}

export interface StepGroup {
  /** What is written by these steps; null for a pipeline's own. */
  output: string | null;
  steps: StepRow[];
}

export interface Gap {
  output: string;
  operator: string;
  reason: string | null;
  columns: string[];
}

interface DatasetUse {
  dataset: { namespace: string; name: string };
  facets: Facets;
}

/** Steps without lineage, by output; null if no output has a coverage facet. */
export function gapsOf(outputs: readonly DatasetUse[]): Gap[] | null {
  const covered = outputs.filter((use) => Array.isArray(members(use.facets.headwater_coverage).gaps));
  if (covered.length === 0) return null;
  return covered.flatMap((use) =>
    objects(members(use.facets.headwater_coverage).gaps).map((gap) => ({
      output: `${use.dataset.namespace}/${use.dataset.name}`,
      operator: text(gap.operator) ?? "a step",
      reason: text(gap.reason),
      columns: Array.isArray(gap.columns) ? gap.columns.filter((one) => typeof one === "string") : [],
    })),
  );
}

export function pipelineSteps(facets: Facets): StepRow[] {
  return objects(members(facets.headwater_pipeline).nodes).map((node) => {
    const counts = members(node.counts);
    const seconds = count(node.seconds);
    return {
      name: text(node.name) ?? "a step without a name",
      kind: text(node.type),
      depth: 0,
      rows: count(counts.emitted) ?? count(counts.items),
      milliseconds: seconds === null ? null : seconds * 1000,
      bytes: null,
      filtered: count(counts.filtered),
      deadLetters: count(counts.dead_letters),
      retried: count(counts.retried),
      gap: null,
    };
  });
}

export function planSteps(facets: Facets, gaps: readonly Gap[]): StepGroup[] {
  return objects(members(facets.headwater_telemetry).writes).map((write) => {
    const nodes = objects(write.nodes);
    const output = write.output === undefined ? null : nameIn({ dataset: write.output });
    return { output, steps: nodes.map((node, at) => planStep(node, depthOf(nodes, at), output, gaps)) };
  });
}

function planStep(node: Facets, depth: number, output: string | null, gaps: readonly Gap[]): StepRow {
  const name = text(node.name) ?? "a step without a name";
  const gap = gaps.find((one) => one.output === output && isSame(name, one.operator));
  return {
    name,
    kind: null,
    depth,
    rows: count(node.rows),
    milliseconds: count(node.latencyMs),
    bytes: count(node.bytes),
    filtered: null,
    deadLetters: null,
    retried: null,
    gap: gap === undefined ? null : (gap.reason ?? "no lineage through this step"),
  };
}

/** Spark calls what it does other than what it planned: an RDD in the plan is a scan of one when it runs. */
function isSame(step: string, operator: string): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/^(scan existing|logical|physical)/, "");
  return plain(step) === plain(operator) || plain(step) === `${plain(operator)}exec`;
}

function depthOf(nodes: Facets[], at: number): number {
  let depth = 0;
  let above = parentOf(nodes, at);
  // A parent stands before its children; what says otherwise could go round in circles.
  while (above !== null) {
    depth += 1;
    above = parentOf(nodes, above);
  }
  return depth;
}

function parentOf(nodes: Facets[], at: number): number | null {
  const parent = count(nodes[at]?.parent);
  return parent !== null && Number.isInteger(parent) && parent < at ? parent : null;
}

export interface DeadLetters {
  node: string;
  letters: number;
  /** Where they are, if the run says so. */
  dataset: { namespace: string; name: string } | null;
}

export function deadLettersOf(facets: Facets, outputs: readonly DatasetUse[]): DeadLetters[] {
  const id = text(members(facets.headwater_pipeline).pipeline_id);
  return pipelineSteps(facets)
    .filter((step) => (step.deadLetters ?? 0) > 0)
    .map((step) => ({
      node: step.name,
      letters: step.deadLetters ?? 0,
      dataset: outputs.find((use) => use.dataset.name.endsWith(`dead_letters/${id}/${step.name}`))?.dataset ?? null,
    }));
}
