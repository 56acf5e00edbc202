/** The path that the server is reached at (`headwater serve --root-path`), without a slash at its end; empty at the top
 * of a host. The page is built once, so the server writes it into the document that it hands out. */

export const ROOT = rootOf(
  typeof document === "undefined" ? null : document.querySelector<HTMLMetaElement>('meta[name="headwater-root"]'),
);

export function rootOf(meta: { content: string } | null): string {
  const path = meta?.content ?? "";
  // Served by Vite during development: no server has filled in the path.
  return path.startsWith("/") ? path.replace(/\/+$/, "") : "";
}
