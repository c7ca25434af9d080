import type * as v from 'valibot';
import type { Role, Scope } from '../lib/enums.ts';
import type { AppError } from '../lib/errors.ts';
import { etagOf } from '../lib/ids.ts';
import type { FieldProblem } from '../lib/validation/problems.ts';
import type { BodyLimitName } from './body.ts';
import type { App, Handled } from './context.ts';

/**
 * Who may call (docs/contract/platform.md#1-2).
 * - `public`: the public key only. `secret`: the secret key only, no sessions.
 * - `dashboard`: the secret key, or a session with `X-Project-Id`.
 * - `project`: the project is the path's `:id`; its secret key, or a session of a member.
 * - `account`: a session, or the secret key; no project is named (`project` is the key's, or null).
 * - `cookie`: a session only.
 * - `none`: anybody.
 */
export type Access = 'public' | 'secret' | 'dashboard' | 'project' | 'account' | 'cookie' | 'none';

type AnySchema = v.GenericSchema<unknown, unknown>;
type Output<Schema> = Schema extends AnySchema ? v.InferOutput<Schema> : Record<string, never>;

type NameIn<Segment extends string> = Segment extends `:${infer Name}` ? Name : never;
type NamesIn<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? NameIn<Segment> | NamesIn<Rest>
  : NameIn<Path>;

/** The parameters that a path names: `{ id: string }` for `/contacts/:id`; any name for a path known only as `string`. */
export type PathParams<Path extends string> = string extends Path
  ? Record<string, string>
  : Readonly<Record<NamesIn<Path>, string>>;

/** The parts of a request by which a route finds the project of a session. */
interface ProjectSearch<Params> {
  app: App;
  params: Params;
  /** Who asks. */
  userId: string;
  /** The parsed body, not checked yet. */
  body(): Promise<unknown>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A row of a route table. */
export interface RouteOptions<
  Who extends Access,
  Query extends AnySchema | undefined,
  Body extends AnySchema | undefined,
  Path extends string,
> {
  method: Method;
  /** Koa's notation: `/contacts/:id`. */
  path: Path;
  access: Who;
  /** Least role of a session's user in the project; MEMBER when absent. A secret key acts as ADMIN. */
  role?: Role;
  /** The scope that a key with scopes needs. Without one such keys are refused: a new route is closed to them until it says otherwise. `any` accepts every such key. */
  scope?: Scope | 'any';
  /** Keys are known here and answered 403 FORBIDDEN, by whichever `access`. */
  refusesKeys?: boolean;
  /** `project`: refused for sessions too while the project is disabled; keys always are, unless they only read. */
  refusedWhenDisabled?: boolean;
  /** Also for users who have not confirmed their address yet. */
  ungated?: boolean;
  /**
   * `dashboard`: finds the project of a session that sends no `X-Project-Id`. What is looked up must belong to a project of
   * the user: for a stranger's the answer would differ from that for nothing.
   */
  findProject?: (request: ProjectSearch<PathParams<Path>>) => Promise<string | null> | string | null;
  /** Refuses before it is asked who calls. */
  guard?: (app: App) => void;
  summary: string;
  /** The name in generated clients, where the rule of `operationIds` makes none that reads well. */
  operationId?: string;
  /** Further sentences for the API reference. */
  description?: string;
  /** Groups the reference; the first path segment when absent. */
  tag?: string;
  /**
   * Path parameters that must be UUIDs, each with the kind of resource whose 404 a malformed id gets,
   * or `422` where the contract wants a VALIDATION_ERROR.
   */
  ids?: Partial<PathParams<Path>>;
  /** Descriptions of path parameters that are no IDs, for the API reference. */
  pathTexts?: Partial<PathParams<Path>>;
  query?: Query;
  /** Values of the query as somebody would send them, for the API reference: where the request needs some. */
  queryExample?: Query extends AnySchema ? v.InferInput<NoInfer<Query>> : never;
  body?: Body;
  /** How problems of the body are answered where that is not the 422 envelope. Null falls back to it. */
  bodyError?: (problems: FieldProblem[], body: unknown, suggestion: string | undefined) => AppError | null;
  /** `raw` hands the unparsed bytes to the handler as `body`, for signed webhooks; `form` the fields of an HTML form. */
  bodyKind?: 'json' | 'form' | 'raw' | 'stream';
  /** A body that no schema checks: its media type, its fields as JSON Schemas, and those that may be left out. */
  bodyForm?: {
    type: string;
    fields: Readonly<Record<string, Record<string, unknown>>>;
    optional?: readonly string[];
    example?: unknown;
  };
  /** A request body as somebody would send it, for the API reference. */
  example?: Body extends AnySchema ? v.InferInput<NoInfer<Body>> : never;
  reply?: AnySchema;
  /** Body of failures that may be another than the envelope and a bare error (`orEnvelope`). */
  errorReply?: AnySchema;
  /** Media type of a success that is no JSON, or that may be text in place of `reply`. */
  textReply?: 'text/csv' | 'text/html' | 'text/plain' | 'image/*';
  /** Status of success; 200 when absent. */
  status?: number;
  /** What a success returns or has done, in a sentence for the API reference; by status where a route has several. */
  returns: string | Readonly<Record<number, string>>;
  /** Statuses of failures beyond those that every route of its kind may answer, for the API reference. */
  refusals?: readonly number[];
  /**
   * Those that may be bare (docs/contract/core.md#1-3), beside the 400 of a route with `bodyError`; `default` for statuses that are not
   * described.
   */
  bareRefusals?: readonly (number | 'default')[];
  /**
   * Reads `Idempotency-Key` (docs/contract/core.md#1-8): the handler makes its writes through `writeOnce`, in one call, and
   * calls `keepAnswer` in it.
   */
  idempotent?: boolean;
  /** Answers with an `ETag`; an edit reads `If-Match` and refuses with 412. */
  guarded?: boolean;
  /**
   * Reads or counts much of a project's data: its `db` is the project's share of the connections for heavy reads (`App.heavyReads`), and
   * the request is refused with 429 when that is used up.
   */
  heavy?: true;
  /** Not counted against the project's rate window. */
  exemptFromRateLimit?: boolean;
  /** How large its body may be (see `bodyLimits`); a `form` when absent. Streams are limited by who reads them. */
  bodyLimit?: BodyLimitName;
  /**
   * How many requests one with this body counts as in the project's rate window; 1 when absent. The body is parsed and not
   * checked yet.
   */
  rateCost?: (body: unknown) => number;
  handle(input: Handled<Output<Query>, Output<Body>, Who, PathParams<Path>>): unknown;
}

/** A route with its types erased, as the list and the router keep it. */
export type Route = RouteOptions<Access, AnySchema | undefined, AnySchema | undefined, string>;

/** Declares a route; its path and schemas give the handler's types. */
export function route<
  const Who extends Access,
  Query extends AnySchema | undefined = undefined,
  Body extends AnySchema | undefined = undefined,
  const Path extends string = string,
>(options: RouteOptions<Who, Query, Body, Path>): Route {
  return options as unknown as Route;
}

route.get = declare('GET');
route.post = declare('POST');
route.put = declare('PUT');
route.patch = declare('PATCH');
route.delete = declare('DELETE');

function declare(method: Method) {
  return <
    const Who extends Access,
    Query extends AnySchema | undefined = undefined,
    Body extends AnySchema | undefined = undefined,
    const Path extends string = string,
  >(
    path: Path,
    options: Omit<RouteOptions<Who, Query, Body, Path>, 'method' | 'path'>,
  ): Route => ({ ...options, method, path }) as unknown as Route;
}

/** The access of most rows: a session with `X-Project-Id`, the secret key, or a key with this scope. */
export const inProject = <const Needed extends Scope>(scope: Needed) => ({ access: 'dashboard', scope }) as const;

/** An answer with a status or headers of its own. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string | string[]>;

  constructor(status: number, body: unknown, headers: Record<string, string | string[]> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Answers with the `ETag` of what was read or changed, which an edit names in `If-Match`. */
export function taggedReply(body: unknown, revision: number, status = 200): Reply {
  return new Reply(status, body, { ETag: etagOf(revision) });
}

/** The same for what says its revision itself. */
export function tagged(body: { revision: number }): Reply {
  return taggedReply(body, body.revision);
}

/** Answers with a CSV file whose first row has the titles. */
export function csvReply(file: unknown, filename: string): Reply {
  return new Reply(200, file, {
    'Content-Type': 'text/csv; charset=utf-8; header=present',
    'Content-Disposition': `attachment; filename="${filename}"`,
    'Cache-Control': 'no-store',
  });
}

/** Answers with this status; a body of `undefined` is an empty one. */
export function reply(status: number, body?: unknown, headers?: Record<string, string | string[]>): Reply {
  return new Reply(status, body, headers);
}
