import {
  apiDescription,
  failureOf,
  type HeaderName,
  type ParameterName,
  type SecurityScheme,
  tags,
} from './api-description.ts';
import { sizeText } from './bodies/json.ts';
import { bodyLimits } from './body.ts';
import { namesIgnoredFields } from './ignored-fields.ts';
import { openApiDocument as documentOf } from './openapi/document.ts';
import type { JsonSchema } from './openapi/json-schema.ts';
import {
  type Failure,
  type Operation,
  operationId,
  type PathParameter,
  type RequestBody,
  type Status,
} from './openapi/operation.ts';
import type { Route } from './route.ts';

type Named = Pick<Route, 'method' | 'path' | 'operationId'>;

/**
 * Answers the names of routes in generated clients. Of a path that is also there below `/v1`, for callers with a key, the one for
 * the dashboard ends in `InDashboard`.
 */
function operationIds(routes: readonly Named[]): (route: Named) => string {
  const underV1 = new Set(routes.filter(({ path }) => path.startsWith('/v1/')).map(placeOf));
  return (route) => {
    const { method, path } = route;
    const isTwin = !path.startsWith('/v1/') && underV1.has(placeOf({ method, path: `/v1${path}` }));
    const id = route.operationId ?? operationId(method, path.replace(/^\/(v1|users\/@me)(?=\/)/, ''));
    return isTwin ? `${id}InDashboard` : id;
  };
}

function placeOf({ method, path }: Pick<Named, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** The OpenAPI 3.1 document of the routes, made from the schemas that validate the requests. */
export function openApiDocument(routes: readonly Route[], serverUrl: string): JsonSchema {
  const idOf = operationIds(routes);
  const operations = routes.map((route) => operationOf(route, idOf(route)));
  return documentOf(apiDescription(serverUrl), operations);
}

function operationOf(route: Route, id: string): Operation {
  const { method, path, summary, query, queryExample, status = 200, returns, reply, textReply } = route;
  return {
    id,
    method,
    path,
    summary,
    description: descriptionOf(route),
    tag: tagOf(route),
    security: securityOf(route),
    pathParameters: pathParametersOf(route),
    query,
    queryExample,
    parameters: sharedParametersOf(route),
    body: bodyOf(route),
    success: {
      descriptions: typeof returns === 'string' ? { [status]: returns } : returns,
      headers: headersOf(route),
      schema: reply,
      mediaType: textReply,
    },
    failures: [...failuresOf(route), 'default' as const].map((status) => failureIn(route, id, status)),
  };
}

function failureIn(route: Route, id: string, status: Status): Failure {
  const { access, bodyError, bareRefusals = [], errorReply, textReply } = route;
  const mayBeText = bareRefusals.includes(status) || (status === 400 && bodyError !== undefined);
  const failure = failureOf(status, mayBeText);
  const own = `${failure.name}Of${id.charAt(0).toUpperCase()}${id.slice(1)}`;
  if (errorReply !== undefined) return { ...failure, name: own, schema: errorReply };
  // Pages for browsers fail as pages.
  const isPage = textReply === 'text/html' && access === 'none';
  return isPage ? { ...failure, name: `${failure.name}OfPage`, mediaType: textReply } : failure;
}

function tagOf(route: Route): string {
  const key = route.tag ?? route.path.split('/').find((segment) => segment !== '' && segment !== 'v1') ?? 'service';
  return tags[key]?.name ?? key;
}

// Who may call, in a sentence: OpenAPI has no place for roles.
function descriptionOf({ description, access, role, refusesKeys, scope }: Route): string {
  const ofMembers = access === 'dashboard' || access === 'project';
  const needs = refusesKeys ? 'Needs a session. Keys are refused.' : callers[access];
  const rule = ofMembers && role !== undefined && role !== 'MEMBER' ? `Sessions need the role ${role}.` : '';
  const needed = scope === undefined || scope === 'any' ? '' : `Keys with scopes need \`${scope}\`.`;
  return [description, needs, rule, needed].filter(Boolean).join(' ');
}

const callers = {
  none: 'Needs no key.',
  public: 'Needs the public key.',
  secret: 'Needs the secret key.',
  dashboard: 'Needs the secret key, or a session with `X-Project-Id`.',
  project: 'Needs the secret key of the project, or the session of a member.',
  account: 'Needs the secret key, or a session.',
  cookie: 'Needs a session.',
} as const;

function securityOf({ access, refusesKeys }: Route): readonly SecurityScheme[] {
  if (access === 'none') return [];
  if (access === 'public') return ['publicKey'];
  if (access === 'secret') return ['secretKey'];
  return access === 'cookie' || refusesKeys ? ['sessionCookie'] : ['secretKey', 'sessionCookie'];
}

function pathParametersOf(route: Route): Record<string, PathParameter> {
  const parameters = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']): [string, PathParameter] => [
    name,
    { description: pathDescription(route, name), format: route.ids?.[name] ? 'uuid' : undefined },
  ]);
  return Object.fromEntries(parameters);
}

// `/campaigns/:id/send`: what stands before a parameter says of what it is.
function pathDescription({ path, ids, pathTexts }: Route, name: string): string | undefined {
  if (name !== 'id') {
    const owner = /^(\w+)Id$/.exec(name)?.[1];
    return pathTexts?.[name] ?? (owner === undefined ? undefined : `ID of the ${owner}.`);
  }
  const kind = ids?.id;
  if (kind !== undefined && kind !== '422') return `ID of the ${kind}.`;
  const [, owner = ''] = /([\w-]+)\/:id\b/.exec(path) ?? [];
  const isRecipientPage = /^(unsubscribe|subscribe|manage)$/.test(owner);
  return `ID of the ${isRecipientPage ? 'contact' : owner.replaceAll('-', ' ').replace(/s$/, '')}.`;
}

function sharedParametersOf(route: Route): ParameterName[] {
  const shared: ParameterName[] = [];
  if (route.idempotent) shared.push('IdempotencyKey', 'IdempotencyMode');
  if (isGuardedEdit(route)) shared.push('IfMatch');
  // Named once for sessions; with a key the header is ignored.
  if (route.access === 'dashboard') shared.push('ProjectId');
  return shared;
}

function bodyOf({ body, bodyKind, bodyForm, bodyLimit = 'form', example }: Route): RequestBody | undefined {
  if (bodyForm !== undefined) {
    const { type: mediaType, ...form } = bodyForm;
    return { mediaType, ...form };
  }
  if (body === undefined || bodyKind !== undefined) return undefined;
  return { schema: body, description: `At most ${sizeText(bodyLimits[bodyLimit].bytes)}.`, example };
}

function headersOf(route: Route): HeaderName[] {
  const { access, exemptFromRateLimit, guarded, method, idempotent } = route;
  const headers: HeaderName[] = ['X-Request-ID'];
  if (access !== 'none' && access !== 'cookie' && !exemptFromRateLimit)
    headers.push('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');
  // A deleted resource has no revision.
  if (guarded && method !== 'DELETE') headers.push('ETag');
  if (idempotent) headers.push('Idempotency-Replayed');
  if (namesIgnoredFields(route)) headers.push('X-Ignored-Fields');
  return headers;
}

function failuresOf(route: Route): Status[] {
  const { access, path, idempotent, refusals = [] } = route;
  if (access === 'none') return [...openFailuresOf(route), ...refusals];
  const statuses = [400, 401, 403, 422, 429, ...refusals];
  if (path.includes(':')) statuses.push(404);
  if (idempotent) statuses.push(409);
  if (isGuardedEdit(route)) statuses.push(412);
  if (route.heavy) statuses.push(503);
  if (route.body !== undefined || route.bodyKind !== undefined) statuses.push(413);
  return statuses;
}

// An operation without a key refuses a path, a query or a body, and too many requests.
function openFailuresOf({ path, query, body, bodyKind, bodyForm }: Route): Status[] {
  const hasBody = body !== undefined || bodyKind !== undefined || bodyForm !== undefined;
  const statuses = hasBody ? [400, 413] : [];
  if (path.includes(':')) statuses.push(404);
  if (hasBody || query !== undefined) statuses.push(422);
  return statuses.length === 0 ? statuses : [...statuses, 429];
}

function isGuardedEdit({ guarded, method }: Route): boolean {
  return guarded === true && method !== 'GET';
}
