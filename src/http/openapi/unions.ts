import type { JsonSchema } from './json-schema.ts';

/** A schema that is referred to by name. */
export type Resolve = (reference: string) => JsonSchema | undefined;

/**
 * A union as generators of clients for Go read it: constants that are strings are one enumeration, and forms of which a value can have
 * one alone are `oneOf`. What may also be null is left as it is.
 */
export function union(made: JsonSchema, resolve: Resolve): JsonSchema {
  const { anyOf, ...beside } = made;
  if (!Array.isArray(anyOf)) return made;
  const forms = withEnumeration(anyOf as JsonSchema[]);
  const [only, ...more] = forms;
  if (only !== undefined && more.length === 0) return { ...only, ...beside };
  const values = forms.filter(({ type }) => type !== 'null');
  const isExclusive = values.length > 1 && everyPair(values, (one, other) => areApart(one, other, resolve));
  return { ...beside, [isExclusive ? 'oneOf' : 'anyOf']: forms };
}

function withEnumeration(forms: readonly JsonSchema[]): JsonSchema[] {
  const words = forms.flatMap(({ const: word }) => (typeof word === 'string' ? [word] : []));
  if (words.length === 0) return [...forms];
  const others = forms.filter(({ const: word }) => typeof word !== 'string');
  return [{ type: 'string', enum: words }, ...others];
}

function everyPair<Item>(items: readonly Item[], holds: (one: Item, other: Item) => boolean): boolean {
  return items.every((one, index) => items.slice(index + 1).every((other) => holds(one, other)));
}

/** Whether no value fits both. */
function areApart(one: JsonSchema, other: JsonSchema, resolve: Resolve): boolean {
  const [first, second] = [resolved(one, resolve), resolved(other, resolve)];
  const [types, others] = [typesOf(first, resolve), typesOf(second, resolve)];
  if (types === null || others === null) return false;
  const shared = [...types].filter((type) => others.has(type));
  if (shared.length === 0) return true;
  return shared.join() === 'object' && (excludes(first, second) || excludes(second, first));
}

// An object that takes no other fields is apart from one that must have another.
function excludes(closed: JsonSchema, open: JsonSchema): boolean {
  if (closed.additionalProperties !== false) return false;
  const known = Object.keys((closed.properties ?? {}) as JsonSchema);
  return ((open.required ?? []) as string[]).some((name) => !known.includes(name));
}

function resolved(schema: JsonSchema, resolve: Resolve): JsonSchema {
  const { $ref } = schema;
  return typeof $ref === 'string' ? (resolve($ref) ?? {}) : schema;
}

/** The types of JSON that a value may have, where a whole number is a number; null where nothing says. */
function typesOf(schema: JsonSchema, resolve: Resolve): ReadonlySet<string> | null {
  if (schema.const !== undefined) return new Set([typeof schema.const]);
  const forms = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(forms)) {
    const all = (forms as JsonSchema[]).map((form) => typesOf(resolved(form, resolve), resolve));
    return all.includes(null) ? null : new Set(all.flatMap((types) => [...(types ?? [])]));
  }
  return typeof schema.type === 'string' ? new Set([schema.type === 'integer' ? 'number' : schema.type]) : null;
}
