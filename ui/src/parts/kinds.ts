import type { IconName } from "./icons";

const ICONS: Record<string, IconName> = {
  table: "table",
  view: "view",
  file: "file",
  stream: "topic",
  report: "file",
  model: "memory",
  job: "job",
};

export function iconOf(kind: string | null | undefined): IconName {
  return ICONS[kind ?? ""] ?? "table";
}
