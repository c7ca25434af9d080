import { badRequest } from './errors.ts';
import type { JsonObjectValue, JsonValue } from './json.ts';

/** What the `data` of a request means: what to store, what to forget, and what its templates see. */
export interface SplitData {
  /** Keys to set on the contact. */
  set: JsonObjectValue;
  /** Keys to delete from the contact. */
  remove: string[];
  /** Values for the templates of this request. */
  variables: JsonObjectValue;
}

const reserved = new Set(['id', 'email', 'unsubscribeUrl', 'subscribeUrl', 'manageUrl', 'posthorn_id', 'posthorn_email']);
const dangerous = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Applies the rules of contact data (contract page 1, 2.1): reserved keys are dropped, `""` is not stored, `null`
 * deletes, `{ value, persistent: false }` is a variable only, everything else is stored whole.
 * @throws 400 BAD_REQUEST when `locale` is no string
 */
export function splitData(data: Readonly<Record<string, unknown>>): SplitData {
  const set: JsonObjectValue = {};
  const remove: string[] = [];
  const variables: JsonObjectValue = {};
  for (const [key, raw] of Object.entries(data)) {
    if (reserved.has(key) || dangerous.has(key)) continue;
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

/** A copy of JSON without the keys that could reach a prototype, at any depth (contract page 1, 1.1). */
export function withoutDangerousKeys(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutDangerousKeys);
  const clean: JsonObjectValue = {};
  for (const [key, inner] of Object.entries(value)) if (!dangerous.has(key)) clean[key] = withoutDangerousKeys(inner);
  return clean;
}
