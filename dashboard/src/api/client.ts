import createClient, { type Middleware } from 'openapi-fetch';
import { ApiError, toApiError, Unreachable } from './errors.ts';
import type { paths } from './schema.d.ts';
import { reportReachable, reportUnreachable, untilSignedIn } from './signals.ts';

let project: string | null = null;

/** Names the project that every later call is about; null where calls are about none. */
export function selectProject(id: string | null): void {
  project = id;
}

/*
 * A session that ends while somebody works asks for the password in a dialog and goes on with the same request, so that
 * nothing typed is lost. The shell is notified when the service cannot be reached, and watches for its return.
 */
const behaviour: Middleware = {
  onRequest({ request }) {
    if (project !== null) request.headers.set('X-Project-Id', project);
  },
};

async function send(request: Request): Promise<Response> {
  const again = request.clone();
  let response: Response;
  try {
    response = await fetch(request);
  } catch (cause) {
    if (request.signal.aborted) throw cause;
    reportUnreachable();
    throw new Unreachable();
  }
  reportReachable();
  if (response.status === 401 && !new URL(request.url).pathname.startsWith('/auth/')) {
    await response.body?.cancel();
    await untilSignedIn();
    return fetch(again);
  }
  return response;
}

const client = createClient<paths, 'application/json'>({
  baseUrl: window.location.origin,
  credentials: 'same-origin',
  fetch: send,
});
client.use(behaviour);

/** The service's API; every call is typed by its own description. Wrap calls in `answer`. */
export const api = client;

/**
 * The body of a successful answer.
 * @throws ApiError with the service's own words, Unreachable when it cannot be reached
 */
export async function answer<Data>(
  call: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<NonNullable<Data>> {
  const { data, error, response } = await call;
  if (!response.ok) throw toApiError(response.status, error);
  return (data ?? null) as NonNullable<Data>;
}

export { ApiError };
