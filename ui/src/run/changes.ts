/** What a run did otherwise than another, in words. Pure. */

import type { Schemas } from "../api/client";
import { inWords, members, text, texts } from "./facets";

export type Kind = "added" | "removed" | "changed";

export interface Told {
  kind: Kind;
  name: string;
  before: string | null;
  after: string | null;
}

export function toldOf(change: Schemas["Change"]): Told {
  const kind = change.before === null ? "added" : change.after === null ? "removed" : "changed";
  return { kind, name: change.name, before: said(change.before), after: said(change.after) };
}

function said(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map(how).join("; ");
  if (typeof value === "object") return use(value);
  return inWords(value);
}

/** How one column comes from another. */
function how(value: unknown): string {
  const told = members(value);
  const words = [
    text(told.dependency)?.toLowerCase(),
    text(told.subtype),
    told.masking === true ? "masked" : null,
    text(told.logic),
  ];
  return words.filter(Boolean).join(", ") || inWords(value);
}

/** A dataset's use: which partitions, which version. */
function use(value: object): string | null {
  const told = members(value);
  if (!("partitions" in told) && !("version" in told)) return inWords(value);
  const version = told.version === null || told.version === undefined ? null : `version ${inWords(told.version)}`;
  const words = [version, texts(told.partitions).length > 0 ? `partitions ${texts(told.partitions).join(", ")}` : null];
  return words.filter(Boolean).join(", ") || null;
}

export function summary(changes: Told[]): string {
  const counted = (["added", "removed", "changed"] as const)
    .map((kind) => [kind, changes.filter((one) => one.kind === kind).length] as const)
    .filter(([, count]) => count > 0);
  return counted.map(([kind, count]) => `${count} ${kind}`).join(", ");
}
