import type { JsonBody } from '@fernpost/request-bodies';
import { fieldProblems } from '@fernpost/validation';
import * as v from 'valibot';
import { AppError, invalid, invalidField, notFound } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import type { Admitted, Handled } from './context.ts';
import { readableBody } from './ignored-fields.ts';
import type { Route } from './route.ts';

/** What a handler gets but for its checked query and body; the parameters of the path are not checked yet. */
export type RouteInput = Omit<Handled<unknown, unknown, 'secret'>, 'project' | 'actor' | 'params' | 'body'> &
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
