/** What a run did otherwise than another, in words. Pure. */

import type { Schemas } from "../api/client";
import { asText, members, text, texts } from "./facets";

export type Kind = "added" | "removed" | "changed";

export interface ChangeText {
  kind: Kind;
  name: string;
  before: string | null;
  after: string | null;
}

export function describeChange(change: Schemas["Change"]): ChangeText {
  const kind = change.before === null ? "added" : change.after === null ? "removed" : "changed";
  return { kind, name: change.name, before: describeValue(change.before), after: describeValue(change.after) };
}

function describeValue(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map(describeDerivation).join("; ");
  if (typeof value === "object") return describeUse(value);
  return asText(value);
}

/** How one column comes from another. */
function describeDerivation(value: unknown): string {
  const fields = members(value);
  const words = [
    text(fields.dependency)?.toLowerCase(),
    text(fields.subtype),
    fields.masking === true ? "masked" : null,
    text(fields.logic),
  ];
  return words.filter(Boolean).join(", ") || asText(value);
}

/** A dataset's use: which partitions, which version. */
function describeUse(value: object): string | null {
  const fields = members(value);
  if (!("partitions" in fields) && !("version" in fields)) return asText(value);
  const version = fields.version === null || fields.version === undefined ? null : `version ${asText(fields.version)}`;
  const words = [
    version,
    texts(fields.partitions).length > 0 ? `partitions ${texts(fields.partitions).join(", ")}` : null,
  ];
  return words.filter(Boolean).join(", ") || null;
}

export function summary(changes: ChangeText[]): string {
  const counted = (["added", "removed", "changed"] as const)
    .map((kind) => [kind, changes.filter((one) => one.kind === kind).length] as const)
    .filter(([, count]) => count > 0);
  return counted.map(([kind, count]) => `${count} ${kind}`).join(", ");
}
