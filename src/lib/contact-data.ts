import { contactKeys } from '@fernpost/earlier-name';
import { badRequest, invalidField } from './errors.ts';

/** A value that JSON can carry. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

export type JsonObjectValue = Record<string, JsonValue>;

/** Reads the value at a path with dots; undefined for none. A key that itself holds dots wins over the path that it looks like. */
export function valueAtPath(data: JsonObjectValue, path: string): JsonValue | undefined {
  if (Object.hasOwn(data, path)) return data[path];
  let at: JsonValue | undefined = data;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObjectValue)[key];
  }
  return at;
}

/** The `data` of a request, split into values to store, keys to remove, and variables of its templates. */
interface SplitData {
  /** Keys to set on the contact. */
  set: JsonObjectValue;
  /** Keys to delete from the contact. */
  remove: string[];
  /** Values for the templates of this request. */
  variables: JsonObjectValue;
}

const reserved = new Set([
  'id',
  'email',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
  'fernpost_id',
  'fernpost_email',
  ...Object.values(contactKeys),
]);
const dangerous = new Set(['__proto__', 'constructor', 'prototype']);

/** Keys that contact data never has: names that are the service's own, and those that could reach a prototype. */
export const reservedKeys: readonly string[] = [...reserved, ...dangerous];

/** Most characters of a key of contact data. */
export const longestKey = 255;

/**
 * Applies the rules of contact data (docs/contract/core.md#2-1): reserved keys are dropped, `""` is not stored, `null`
 * deletes, `{ value, persistent: false }` is a variable only, everything else is stored whole.
 * @throws 400 BAD_REQUEST when `locale` is no string, 422 for a key that is too long
 */
export function splitData(data: Readonly<Record<string, unknown>>): SplitData {
  const set: JsonObjectValue = {};
  const remove: string[] = [];
  const variables: JsonObjectValue = {};
  for (const [written, raw] of Object.entries(data)) {
    const key = written.toWellFormed();
    if (reserved.has(key) || dangerous.has(key)) continue;
    if (key.length > longestKey)
      throw invalidField('data', `has a key of ${key.length} characters; at most ${longestKey} are allowed`, 'too_big');
    const value = withoutDangerousKeys(raw as JsonValue);
    if (key === 'locale' && value !== null && typeof value !== 'string')
      throw badRequest('"data.locale" must be a string such as "en" or "pt-BR"', { field: 'data.locale' });
    const transient = transientValue(value);
    if (transient !== undefined) {
      variables[key] = transient;
      continue;
    }
    variables[key] = value;
    if (value === null) remove.push(key);
    else if (value !== '') set[key] = value;
  }
  return { set, remove, variables };
}

/** Event data as workflows and templates see it: values wrapped as `{ value, persistent: false }` are unwrapped. */
export function unwrapData(data: Readonly<Record<string, unknown>>): JsonObjectValue {
  return splitData(data).variables;
}

function transientValue(value: JsonValue): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value.persistent === false && 'value' in value ? (value.value ?? null) : undefined;
}

// JSON nested deeper than this is nobody's data, and would exhaust the stack here or in Postgres.
const mostLevels = 100;

/**
 * A copy of JSON as it can be stored: without the keys that could reach a prototype, at any depth (docs/contract/core.md#1-1),
 * and with a replacement character where a string holds half of a surrogate pair, which Postgres refuses in jsonb.
 * @throws 422 when it is nested deeper than 100 levels
 */
export function withoutDangerousKeys(value: JsonValue, levels = mostLevels): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) throw invalidField('data', `must not be nested deeper than ${mostLevels} levels`, 'custom');
  if (Array.isArray(value)) return value.map((inner) => withoutDangerousKeys(inner, levels - 1));
  const clean: JsonObjectValue = {};
  for (const [key, inner] of Object.entries(value))
    if (!dangerous.has(key)) clean[key.toWellFormed()] = withoutDangerousKeys(inner, levels - 1);
  return clean;
}

/**
 * A body with `subscribed: false` where it says `unsubscribed: true`, the word of other services, and does not say `subscribed`. Any
 * other body is returned as it is.
 */
export function withSubscription(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('unsubscribed' in body) || body.unsubscribed !== true) return body;
  return 'subscribed' in body && body.subscribed !== undefined ? body : { ...body, subscribed: false };
}
