import { type FieldProblem, fieldSentence, plainSentence } from '../words/sentences.ts';

/** The service refused a request; `message` is its own sentence. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly fields: FieldProblem[];
  readonly details: Record<string, unknown>;
  /** The ID to give to support. */
  readonly requestId: string | null;

  constructor(status: number, code: string, message: string, more: Partial<ApiError> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = more.fields ?? [];
    this.details = more.details ?? {};
    this.requestId = more.requestId ?? null;
  }

  /** The problem with a field, as a sentence for people. */
  problemOf(field: string): string | undefined {
    const problem = this.fields.find((each) => each.field === field);
    return problem && fieldSentence(problem);
  }
}

/** Nothing answers: the service is away, or the network is. */
export class Unreachable extends Error {
  override name = 'Unreachable';
  constructor() {
    super('Fernpost can’t be reached. This page reconnects by itself.');
  }
}

/** The page itself refuses what was asked of it; `message` says why, in words for people. */
export class Refusal extends Error {
  override name = 'Refusal';
}

interface Envelope {
  error?: string | { code?: string; message?: string; errors?: FieldProblem[]; details?: object; requestId?: string };
}

/** Reads the envelope of an error, or the bare one that some calls answer. */
export function toApiError(status: number, body: unknown): ApiError {
  const result = (body as Envelope | undefined)?.error;
  if (typeof result === 'string') return new ApiError(status, 'BAD_REQUEST', plainSentence(result));
  return new ApiError(
    status,
    result?.code ?? 'UNKNOWN',
    result?.message === undefined ? `The request failed (${status}).` : plainSentence(result.message),
    {
      fields: result?.errors ?? [],
      details: (result?.details ?? {}) as Record<string, unknown>,
      requestId: result?.requestId ?? null,
    },
  );
}
