import type * as v from 'valibot';
import type { AppError, FieldProblem } from '../lib/errors.ts';
import type { Handled } from './context.ts';

/** Who may call: the public key only, the secret key only (no cookies), key or session, or anybody. */
export type Access = 'public' | 'secret' | 'dashboard' | 'none';

type AnySchema = v.GenericSchema<unknown, unknown>;
type Output<Schema> = Schema extends AnySchema ? v.InferOutput<Schema> : Record<string, never>;

/** What a row of a route table says. */
export interface RouteOptions<
  Who extends Access,
  Query extends AnySchema | undefined,
  Body extends AnySchema | undefined,
> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Koa's notation: `/contacts/:id`. */
  path: string;
  access: Who;
  summary: string;
  /** Further sentences for the API reference. */
  description?: string;
  /** Groups the reference; the first path segment when absent. */
  tag?: string;
  /**
   * Path parameters that must be UUIDs, each with the kind of resource whose 404 a malformed id gets,
   * or `422` where the contract wants a VALIDATION_ERROR.
   */
  ids?: Record<string, string>;
  query?: Query;
  body?: Body;
  /** How problems of the body are answered where that is not the 422 envelope. Null falls back to it. */
  bodyError?: (problems: FieldProblem[], body: unknown, suggestion: string | undefined) => AppError | null;
  /** `raw` hands the unparsed bytes to the handler as `body`, for signed webhooks. */
  bodyKind?: 'json' | 'raw' | 'stream';
  reply?: AnySchema;
  /** Status of success; 200 when absent. */
  status?: number;
  /** Claims `Idempotency-Key` before the handler runs (contract page 1, 1.8). */
  idempotent?: boolean;
  /** Not counted against the project's rate window. */
  exemptFromRateLimit?: boolean;
  /** Largest body in bytes; 50 MB when absent. */
  maxBodyBytes?: number;
  handle(input: Handled<Output<Query>, Output<Body>, Who>): unknown;
}

/** A route with its types erased, as the list and the router keep it. */
export type Route = RouteOptions<Access, AnySchema | undefined, AnySchema | undefined>;

/** Declares a route; the schemas give the handler's types. */
export function route<
  const Who extends Access,
  Query extends AnySchema | undefined = undefined,
  Body extends AnySchema | undefined = undefined,
>(options: RouteOptions<Who, Query, Body>): Route {
  return options as unknown as Route;
}

/** An answer with a status or headers of its own. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;

  constructor(status: number, body: unknown, headers: Record<string, string> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Answers with this status; a body of `undefined` is an empty one. */
export function reply(status: number, body?: unknown, headers?: Record<string, string>): Reply {
  return new Reply(status, body, headers);
}
