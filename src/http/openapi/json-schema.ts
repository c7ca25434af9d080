import { toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { describedFields, shapeOf } from '../../lib/validation/fields.ts';

/** A schema that is referred to by name. */
type Resolve = (reference: string) => JsonSchema | undefined;

/**
 * A union as generators of clients for Go read it: constants that are strings are one enumeration, and forms of which a value can have
 * one alone are `oneOf`. What may also be null is left as it is.
 */
function union(made: JsonSchema, resolve: Resolve): JsonSchema {
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

export type JsonSchema = Record<string, unknown>;

/** `input` of a schema is what a request carries, `output` what an answer does. */
export type Mode = 'input' | 'output';

const prefix = '#/components/schemas/';

/** A reference to a component. */
export function referenceTo(name: string): string {
  return `${prefix}${name}`;
}

/** The component that a reference is to. */
export function nameIn(reference: string): string {
  return reference.slice(prefix.length);
}

/** The JSON Schemas (2020-12) of named schemas, which refer to one another, in the form that generators of clients read. */
export function jsonSchemas(names: ReadonlyMap<v.GenericSchema, string>, typeMode: Mode): Record<string, JsonSchema> {
  const fields = [...describedFields()];
  const definitions = Object.fromEntries([
    ...[...names].map(([schema, name]) => [name, schema]),
    ...fields.map(([schema], index) => [fieldName(index), schema]),
  ]);
  const made = toJsonSchemaDefs(definitions, {
    target: 'draft-2020-12',
    typeMode,
    errorMode: 'ignore',
    overrideRef: ({ referenceId }) => referenceTo(referenceId),
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      const shape = shapeOf(valibotSchema as v.GenericSchema);
      if (shape === undefined) return adapted(valibotSchema, jsonSchema as JsonSchema);
      const name = names.get(shape);
      if (name === undefined) throw new Error('A schema that describes others needs a name');
      return { $ref: referenceTo(name) };
    },
  }) as Record<string, JsonSchema>;
  const placed = new Map(
    fields.map(([, { text, schema }], index) => {
      const name = names.get(schema);
      const own = name === undefined ? made[fieldName(index)] : { $ref: referenceTo(name) };
      return [referenceTo(fieldName(index)), { ...own, description: text }];
    }),
  );
  const resolve: Resolve = (reference) => made[nameIn(reference)];
  return Object.fromEntries(
    [...names.values()].map((name) => [name, inPlace(made[name], placed, resolve) as JsonSchema]),
  );
}

const fieldName = (index: number) => `field ${index}`;

/** A schema with the described fields in their places, with defaults in words, and with what is said of a value that may be null. */
function inPlace(node: unknown, placed: ReadonlyMap<string, JsonSchema>, resolve: Resolve): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((part) => inPlace(part, placed, resolve));
  const { $ref, ...beside } = node as JsonSchema;
  const own = typeof $ref === 'string' ? placed.get($ref) : undefined;
  if (own !== undefined) return inPlace({ ...own, ...beside }, placed, resolve);
  const { [defaultWords]: words, ...parts } = node as JsonSchema;
  const inner = Object.entries(parts).map(([key, part]) => [key, inPlace(part, placed, resolve)]);
  const made = union(described(Object.fromEntries(inner)), resolve);
  return words === undefined ? made : { ...made, description: [made.description, words].filter(Boolean).join(' ') };
}

// The description of the one form of a nullable value becomes that of the value.
function described(made: JsonSchema): JsonSchema {
  const forms = Array.isArray(made.anyOf) ? (made.anyOf as JsonSchema[]) : [];
  const [only, ...more] = forms.filter(({ description }) => description !== undefined);
  if (made.description !== undefined || only === undefined || more.length > 0) return made;
  const { description, ...rest } = only;
  return { ...made, anyOf: forms.map((form) => (form === only ? rest : form)), description };
}

/** Returns the JSON Schema that replaces the converter's; undefined to keep that. */
function adapted(schema: { type: string }, made: JsonSchema): JsonSchema | undefined {
  // A custom check has no JSON Schema of its own; the objects among ours say what they are.
  if (schema.type === 'custom') return { ...made, type: 'object', additionalProperties: true };
  if (schema.type === 'record') return recordOf(made);
  if (schema.type === 'variant') return discriminated(schema as Variant, made);
  // openapi-python-client writes Python that does not compile for an optional constant that is a boolean.
  if (schema.type === 'optional' && typeof made.const === 'boolean') {
    const { const: _, ...rest } = made;
    return { ...rest, type: 'boolean' };
  }
  // A schema that allows anything allows null.
  if (schema.type === 'nullable' && JSON.stringify(made.anyOf) === '[{},{"type":"null"}]') return {};
  // Generators for Go take a constant without a type for anything.
  if (schema.type === 'literal') return { type: typeof made.const, ...made };
  if (made.default !== undefined) return defaultInWords(made);
  if (Array.isArray(made.required) && made.required.length === 0) {
    const { required: _, ...rest } = made;
    return rest;
  }
  return undefined;
}

type Variant = v.VariantSchema<string, v.VariantOptions<string>, undefined>;

// A discriminator (OpenAPI 3.1, 4.8.25) names components by strings: unions of others stay as they are.
function discriminated({ key, options }: Variant, made: JsonSchema): JsonSchema | undefined {
  const forms = (made.oneOf ?? []) as { $ref?: string }[];
  const mapping: Record<string, string> = {};
  for (const [place, option] of options.entries()) {
    const values = 'entries' in option ? wordsOf(option.entries[key]) : [];
    const reference = forms[place]?.$ref;
    if (values.length === 0 || reference === undefined) return undefined;
    for (const value of values) mapping[value] = reference;
  }
  return { ...made, discriminator: { propertyName: key, mapping } };
}

function wordsOf(schema: unknown): readonly string[] {
  const { literal, options = [literal] } = schema as { literal?: unknown; options?: readonly unknown[] };
  return options.every((word) => typeof word === 'string') ? options : [];
}

const defaultWords = 'default in words';

// Generators of types take a property with a default for one that is always there, in requests too.
function defaultInWords({ default: value, ...rest }: JsonSchema): JsonSchema {
  return { ...rest, [defaultWords]: `Default: \`${JSON.stringify(value)}\`.` };
}

// Keys of JSON are strings anyway, and `true` is what generators read as "anything".
function recordOf({ propertyNames, additionalProperties, ...rest }: JsonSchema): JsonSchema {
  const isPlainKey = JSON.stringify(propertyNames) === '{"type":"string"}';
  const isAnything = Object.keys(additionalProperties as JsonSchema).length === 0;
  return {
    ...rest,
    ...(isPlainKey ? {} : { propertyNames }),
    additionalProperties: isAnything ? true : additionalProperties,
  };
}
