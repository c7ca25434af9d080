import * as v from 'valibot';
import { AppError, invalid, invalidField, notFound } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import { fieldProblems } from '../lib/validation/problems.ts';
import type { JsonBody } from './bodies/reader.ts';
import type { Admitted, App, Handled } from './context.ts';
import { readableBody } from './ignored-fields.ts';
import { Reply, type Route } from './route.ts';
import type { HttpParts } from './serve.ts';

/** Makes `App.callRoute`: it runs the checks of a request, with the work in the database of the caller. */
export function routeCaller(parts: Pick<HttpParts, 'routes' | 'authenticate' | 'limiter'>): App['callRoute'] {
  const byName = new Map(parts.routes.map((route) => [`${route.method} ${route.path}`, route]));
  return async ({ method, path, params = {}, query = {}, body = {} }, { app, db, requestId, ip, header, plan }) => {
    const route = byName.get(`${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
    if (route === undefined) throw new Error(`There is no route ${method} ${path}`);
    const admitted = await parts.authenticate(route, { method, params, header, findProject: async () => null });
    const cost = plan === 'tried' ? 1 : (route.rateCost?.(body) ?? 1);
    if (admitted.project !== null) await parts.limiter.take(admitted.project.id, cost, admitted.apart);
    const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
    // Inside a transaction the route works in it.
    const own =
      route.heavy && admitted.project !== null && !db.isTransaction
        ? app.heavyReads.of(admitted.project.id, db.author)
        : db;
    const answer = await runHandler(
      route,
      { value: body },
      {
        ...admitted,
        actor: plan === undefined ? admitted.actor : planned(admitted.actor),
        app,
        db: own,
        writeOnce: (work) => work(own),
        keepAnswer: async () => undefined,
        params,
        ip,
        query: Object.fromEntries(texts),
        requestId,
        log: app.log,
        header,
      },
    );
    return answer instanceof Reply ? answer.body : answer;
  };
}

// The setting `mcp` of the key was checked with the plan itself.
function planned(actor: Admitted['actor']): Admitted['actor'] {
  return actor?.kind === 'key' && actor.scoped !== null ? { ...actor, scoped: { ...actor.scoped, mcp: null } } : actor;
}

/** The arguments of a handler without its checked query and body; the parameters of the path are not checked yet. */
type RouteInput = Omit<Handled<unknown, unknown, 'secret'>, 'project' | 'actor' | 'params' | 'body'> &
  Admitted & { params: Record<string, string> };

/** Checks ids, query and body by the route, and runs its handler. @throws 422, 404 */
export function runHandler(route: Route, read: JsonBody, input: RouteInput): unknown {
  for (const [name, resource] of Object.entries(route.ids ?? {})) {
    const id = input.params[name] ?? '';
    if (resource === undefined || isUuid(id)) continue;
    throw resource === '422' ? invalidField(name, 'must be a UUID', 'invalid_string') : notFound(resource, id);
  }
  const query = route.query ? parseQuery(route.query, input.query) : {};
  const body =
    route.body && route.bodyKind === undefined
      ? parseBody(route.body, { ...read, value: readableBody(read.value, route.body) }, route.bodyError)
      : read.value;
  return route.handle({ ...input, query, body } as Parameters<Route['handle']>[0]);
}

function parseQuery(schema: v.GenericSchema, query: unknown): unknown {
  const parsed = v.safeParse(schema, query);
  if (parsed.success) return parsed.output;
  throw invalid(fieldProblems(parsed.issues), 'Compare the query string with the API reference.');
}

function parseBody(schema: v.GenericSchema, read: JsonBody, bodyError: Route['bodyError']): unknown {
  if (Array.isArray(read.value))
    throw invalid([{ field: '', code: 'invalid_type', message: 'must be an object, not an array', received: 'array' }]);
  const parsed = v.safeParse(schema, read.value);
  if (parsed.success) return parsed.output;
  const problems = fieldProblems(parsed.issues);
  const own = bodyError?.(problems, read.value, read.suggestion);
  if (own === null || own === undefined) throw invalid(problems, read.suggestion);
  // A bare error has no place for a suggestion, and without it a form that was sent by mistake looks like a missing field.
  throw own.bare && read.suggestion
    ? new AppError(own.status, own.code, `${own.message}. ${read.suggestion}`, own.extra, true)
    : own;
}
