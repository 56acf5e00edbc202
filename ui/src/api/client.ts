/** The server, typed by its own description (`openapi.json`). */

import createClient, { type Middleware } from "openapi-fetch";
import { ROOT } from "./root";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** A problem response of the server (RFC 9457). `code` is stable, `detail` is for people. */
export class ApiError extends Error {
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
const SAFE_METHODS = new Set(["GET", "HEAD"]);
let csrfToken: string | null = null;

/** Requests that change something carry this token; the session response contains it. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

const csrfMiddleware: Middleware = {
  onRequest({ request }) {
    if (!SAFE_METHODS.has(request.method) && csrfToken !== null) request.headers.set(CSRF_HEADER, csrfToken);
    return request;
  },
  onError() {
    return new ApiError(0, "unreachable", "The server does not respond. Check that headwater serve is running.");
  },
  async onResponse({ response }) {
    if (!response.ok) throw await readProblem(response);
  },
};

async function readProblem(response: Response): Promise<ApiError> {
  try {
    const problem = await response.json();
    return new ApiError(response.status, problem.code, problem.detail, problem.request_id);
  } catch {
    return new ApiError(
      response.status,
      "failed",
      `The server responded with status ${response.status} and no explanation.`,
    );
  }
}

export const client = createClient<paths>({ baseUrl: location.origin + ROOT });
client.use(csrfMiddleware);

/** The body of a successful response; the middleware throws for all others. */
export async function responseData<T>(request: Promise<{ data?: T }>): Promise<T> {
  const { data } = await request;
  return data as T;
}

/** For what is not in the description's JSON, like a bundle's exact bytes. */
export async function fetchBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  let response: Response;
  try {
    response = await fetch(path);
  } catch {
    throw new ApiError(0, "unreachable", "The server does not respond. Check that headwater serve is running.");
  }
  if (!response.ok) throw await readProblem(response);
  return new Uint8Array(await response.arrayBuffer());
}
