/** A field that was refused. */
export interface FieldProblem {
  /** Its path with dots, such as `to.0.email`. */
  field: string;
  message: string;
  code: string;
}

interface Envelope {
  code?: string;
  message?: string;
  errors?: readonly FieldProblem[];
  details?: Readonly<Record<string, unknown>>;
  suggestion?: string;
}

/**
 * A response with a status of 400 or more. The service has two forms of them, `{ "error": { "code", "message", … } }` and
 * `{ "error": "message" }`; both have every property here.
 */
export class FernpostError extends Error {
  override name = 'FernpostError';
  readonly status: number;
  /** What went wrong, for programs: `VALIDATION_ERROR`, `RATE_LIMIT_EXCEEDED` and so on. From the status where the body has none. */
  readonly code: string;
  /** Facts about the refusal, such as `reason`, `needed` or `limitBytes`; empty where there are none. */
  readonly details: Readonly<Record<string, unknown>>;
  /** What to do about it; null where the service has no advice. */
  readonly suggestion: string | null;
  /** The fields that were refused. */
  readonly fields: readonly FieldProblem[];
  /** Identifies the request in the logs of the service. */
  readonly requestId: string | null;
  /** Headers of the response, such as `Retry-After`. */
  readonly headers: Headers;

  /** @param body the parsed response body; null where it is not JSON */
  constructor(status: number, body: unknown, headers: Headers = new Headers()) {
    const { error } = (body ?? {}) as { error?: string | Envelope };
    const envelope: Envelope =
      typeof error === 'object' && error !== null ? error : { ...(error && { message: error }) };
    super(envelope.message ?? `The service responded with status ${status}.`);
    this.status = status;
    this.code = typeof envelope.code === 'string' ? envelope.code : codeOf(status);
    this.details = envelope.details ?? {};
    this.suggestion = envelope.suggestion ?? null;
    this.fields = envelope.errors ?? [];
    this.requestId = headers.get('x-request-id');
    this.headers = headers;
  }
}

// The service's own codes for these statuses.
const codes: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  402: 'BILLING_LIMIT_EXCEEDED',
  403: 'FORBIDDEN',
  404: 'RESOURCE_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  409: 'CONFLICT',
  410: 'TOO_LATE',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  422: 'VALIDATION_ERROR',
  429: 'RATE_LIMIT_EXCEEDED',
};

function codeOf(status: number): string {
  if (status >= 500) return status === 500 ? 'INTERNAL_SERVER_ERROR' : 'SERVICE_UNAVAILABLE';
  return codes[status] ?? `HTTP_${status}`;
}
