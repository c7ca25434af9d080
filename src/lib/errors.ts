import { sentenceOf } from './validation/fields.ts';
import type { FieldProblem } from './validation/problems.ts';

/** Returns the result of the work; `instead` where it rejects with an expected error. */
export async function expecting<T>(isExpected: (error: unknown) => boolean, instead: T, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isExpected(error)) return instead;
    throw error;
  }
}

/** Optional parts of an error beyond its code and message. */
interface ErrorExtra {
  details?: Record<string, unknown>;
  errors?: FieldProblem[];
  suggestion?: string;
  /** Response headers, for example `Retry-After`. */
  headers?: Record<string, string>;
}

/**
 * A failure that the caller is meant to see. The HTTP layer writes it as the error envelope,
 * or as a bare `{ error }` body when `bare` is set (docs/contract/core.md#1-3).
 */
export class AppError extends Error {
  readonly status: number;
  readonly code: string;
  readonly extra: ErrorExtra;
  readonly bare: boolean;

  constructor(status: number, code: string, message: string, extra: ErrorExtra = {}, bare = false) {
    super(message);
    this.name = 'AppError';
    this.status = status;
    this.code = code;
    this.extra = extra;
    this.bare = bare;
  }
}

export function badRequest(message: string, details?: Record<string, unknown>): AppError {
  return new AppError(400, 'BAD_REQUEST', message, details ? { details } : {});
}

/** 400 with the bare body `{ "error": message }`. */
export function bareBadRequest(message: string): AppError {
  return new AppError(400, 'BAD_REQUEST', message, {}, true);
}

/** 400 with a bare body that tells the first problem and its place. */
export function bareInvalid([first]: readonly FieldProblem[]): AppError {
  if (!first) return bareBadRequest('The request body is invalid');
  return bareBadRequest(sentenceOf(first));
}

/** 404 with the bare body `{ "error": message }`. */
export function bareNotFound(message: string): AppError {
  return new AppError(404, 'RESOURCE_NOT_FOUND', message, {}, true);
}

const notFoundCodes = {
  contact: 'CONTACT_NOT_FOUND',
  template: 'TEMPLATE_NOT_FOUND',
  campaign: 'CAMPAIGN_NOT_FOUND',
  workflow: 'WORKFLOW_NOT_FOUND',
} as const;

/** 404 for a resource of this project; the code depends on the kind of resource. */
export function notFound(resource: string, id: string): AppError {
  const code = resource in notFoundCodes ? notFoundCodes[resource as keyof typeof notFoundCodes] : 'RESOURCE_NOT_FOUND';
  return new AppError(404, code, `No ${resource} with id ${id} exists in this project`, {
    details: { resource, id },
    ...(resource === 'template' ? { suggestion: 'List the templates of the project with GET /templates.' } : {}),
  });
}

export function conflict(message: string, details?: Record<string, unknown>): AppError {
  return new AppError(409, 'CONFLICT', message, details ? { details } : {});
}

export function forbidden(
  message: string,
  details?: Record<string, unknown>,
  suggestion = 'Use a key or an account with the rights this action needs.',
): AppError {
  return new AppError(403, 'FORBIDDEN', message, { ...(details ? { details } : {}), suggestion });
}

/** 403 for a key whose mail reaches some recipients only, where what it asks for would reach others: `what` it can or cannot do. */
export function beyondRecipients(what: string, suggestion = 'Use a key without limits, or sign in.'): AppError {
  return forbidden(`This key may not send to everybody: it ${what}`, { reason: 'recipient' }, suggestion);
}

/** 422 `VALIDATION_ERROR` with at least one field problem. */
export function invalid(
  errors: FieldProblem[],
  suggestion = 'Compare the request body with the API reference.',
): AppError {
  return new AppError(422, 'VALIDATION_ERROR', summarize(errors), { errors, suggestion });
}

/** 422 for a single field. */
export function invalidField(field: string, message: string, code: string, received?: string): AppError {
  return invalid([{ field, message, code, ...(received === undefined ? {} : { received }) }]);
}

function summarize(errors: FieldProblem[]): string {
  const [first] = errors;
  if (!first) return 'The request is invalid';
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return `${sentenceOf(first)}${more}`;
}
