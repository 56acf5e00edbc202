/**
 * Jobs between their inputs and their outputs. Where an event names many of both and does not say which input went into
 * which output, the graph holds input → job → output instead of every pair. Pure.
 */

import type { Schemas } from "../api/client";
import { countOf } from "../parts/format";
import { type Endpoint, isJob, type Link, nodeKey, type Ref, type Side } from "./names";

export const VIA_JOB = "through the job";
export const VIA_JOB_REASON = "the event does not say which input went into which output";

/** As the server names such a node: its job, and which of the job's sets of inputs. */
const INPUT_SET = / \(inputs [0-9a-f]{16}\)$/;

/** The job that a node between inputs and outputs stands for; null for datasets and for all other jobs. */
export function hubJob(endpoint: Endpoint): Schemas["Job"] | null {
  if (!isJob(endpoint) || !INPUT_SET.test(endpoint.name)) return null;
  return { ...endpoint, name: endpoint.name.replace(INPUT_SET, "") };
}

/** Whether an edge leads into or out of such a node. Its job is the one that made the edge: a name alone proves nothing. */
export function isViaJob(link: Pick<Link, "upstream" | "downstream" | "jobs">): boolean {
  return [link.upstream, link.downstream].some((end) => {
    const job = hubJob(end);
    return job !== null && link.jobs.some((one) => nodeKey({ ...one, type: "job" }) === nodeKey(job));
  });
}

/** What a reader calls the node: a job by its own name. */
export function displayName(endpoint: Endpoint): string {
  return (hubJob(endpoint) ?? endpoint).name;
}

/** How many datasets it stands between: "3 inputs, 2 outputs, not paired". */
export function unpaired({ upstreams, downstreams }: { upstreams: number; downstreams: number }): string {
  return `${countOf(upstreams, "input")}, ${countOf(downstreams, "output")}, not paired`;
}

type Neighbours = Record<Side, ReadonlyMap<string, readonly string[]>>;

/** The nodes through which the event led from one dataset to the other, among those that are known. */
export function hubsBetween(
  from: Ref,
  to: Ref,
  neighbours: Neighbours,
  endpointOf: (key: string) => Endpoint | null,
): string[] {
  const before = new Set(neighbours.up.get(to.node) ?? []);
  return (neighbours.down.get(from.node) ?? []).filter((key) => {
    const endpoint = before.has(key) ? endpointOf(key) : null;
    return endpoint !== null && hubJob(endpoint) !== null;
  });
}
