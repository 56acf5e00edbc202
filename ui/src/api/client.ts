/** The server, typed by its own description (`openapi.json`). */

import createClient, { type Middleware } from "openapi-fetch";
import { ROOT } from "./root";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** A problem as the server tells it (RFC 9457). `code` is stable, `detail` is for people. */
export class Trouble extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly requestId: string | null = null,
  ) {
    super(detail);
  }
}

const CSRF_HEADER = "X-CSRF-Token";
const READS = new Set(["GET", "HEAD"]);
let csrfToken: string | null = null;

/** Whatever changes something has to show it; the session tells it. */
export function keepToken(token: string | null): void {
  csrfToken = token;
}

const guarded: Middleware = {
  onRequest({ request }) {
    if (!READS.has(request.method) && csrfToken !== null) request.headers.set(CSRF_HEADER, csrfToken);
    return request;
  },
  onError() {
    return new Trouble(0, "unreachable", "The server does not answer. It may have been stopped.");
  },
  async onResponse({ response }) {
    if (!response.ok) throw await troubleOf(response);
  },
};

async function troubleOf(response: Response): Promise<Trouble> {
  try {
    const told = await response.json();
    return new Trouble(response.status, told.code, told.detail, told.request_id);
  } catch {
    return new Trouble(response.status, "failed", `The server answered ${response.status} without a reason.`);
  }
}

export const client = createClient<paths>({ baseUrl: location.origin + ROOT });
client.use(guarded);

/** What was answered; problems were thrown before. */
export async function answer<T>(asked: Promise<{ data?: T }>): Promise<T> {
  const { data } = await asked;
  return data as T;
}

/** For what is not in the description's JSON, like a bundle's exact bytes. */
export async function bytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  let response: Response;
  try {
    response = await fetch(path);
  } catch {
    throw new Trouble(0, "unreachable", "The server does not answer. It may have been stopped.");
  }
  if (!response.ok) throw await troubleOf(response);
  return new Uint8Array(await response.arrayBuffer());
}
