import { toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { namedSchemas, shapeOf } from '../lib/named-schemas.ts';
import descriptions from './field-descriptions.json' with { type: 'json' };

export type JsonSchema = Record<string, unknown>;
export type Mode = 'input' | 'output';

const prefix = '#/components/schemas/';

/**
 * JSON Schemas of requests (`input`) and answers (`output`). A schema with a name becomes a component, and so does every object
 * that an operation takes or returns, by the name it is asked for with.
 */
export class ComponentSchemas {
  readonly #names = new Map<v.GenericSchema, string>(namedSchemas());
  readonly #made: Record<Mode, Record<string, JsonSchema>>;
  readonly #used = new Map<string, JsonSchema>();

  /** Takes every schema of the document with the name that it gets unless it has one. */
  constructor(asked: Iterable<{ name: string; schema: v.GenericSchema }>) {
    const taken = new Map([...this.#names].map(([schema, name]) => [name, schema]));
    for (const { name, schema } of asked) {
      if (this.#names.has(schema)) continue;
      if (taken.has(name)) throw new Error(`Two schemas have the name ${name} in the API reference`);
      this.#names.set(schema, name);
      taken.set(name, schema);
    }
    const definitions = Object.fromEntries(taken);
    this.#made = { input: this.#make(definitions, 'input'), output: this.#make(definitions, 'output') };
  }

  /** The schema itself, without a reference to it. */
  whole(schema: v.GenericSchema, mode: Mode): JsonSchema {
    const made = this.#made[mode][this.#names.get(schema) ?? ''];
    if (made === undefined) throw new Error('The schema was not announced');
    this.#useAll(made, mode);
    return made;
  }

  /** A reference to the schema, which becomes a component; what is neither an object nor has a name stands where it is used. */
  of(schema: v.GenericSchema, mode: Mode): JsonSchema {
    const name = this.#names.get(schema) ?? '';
    const made = this.whole(schema, mode);
    const isNamed = namedSchemas().has(schema);
    if (!isNamed && made.type !== 'object' && made.anyOf === undefined && made.oneOf === undefined) return made;
    this.#use(name, mode);
    return { $ref: `${prefix}${name}` };
  }

  /** The components that were referred to, by their names. */
  components(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#used].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #use(name: string, mode: Mode): void {
    const made = this.#made[mode][name] ?? {};
    const known = this.#used.get(name);
    if (known === made) return;
    if (known !== undefined) {
      if (JSON.stringify(known) === JSON.stringify(made)) return;
      throw new Error(`${name} differs between requests and answers: it needs two schemas with two names`);
    }
    this.#used.set(name, made);
    this.#useAll(made, mode);
  }

  #useAll(made: unknown, mode: Mode): void {
    if (typeof made !== 'object' || made === null) return;
    for (const [key, value] of Object.entries(made))
      if (key === '$ref' && typeof value === 'string') this.#use(value.slice(prefix.length), mode);
      else this.#useAll(value, mode);
  }

  #nameOf(shape: v.GenericSchema): string {
    const name = this.#names.get(shape);
    if (name === undefined) throw new Error('A schema that describes others needs a name');
    return name;
  }

  #make(definitions: Record<string, v.GenericSchema>, typeMode: Mode): Record<string, JsonSchema> {
    const made = toJsonSchemaDefs(definitions, {
      target: 'draft-2020-12',
      typeMode,
      errorMode: 'ignore',
      overrideRef: ({ referenceId }) => `${prefix}${referenceId}`,
      overrideSchema: ({ valibotSchema, jsonSchema }) => {
        const shape = shapeOf(valibotSchema as v.GenericSchema);
        if (shape !== undefined) return { $ref: `${prefix}${this.#nameOf(shape)}` };
        const made = jsonSchema as JsonSchema;
        // A custom check has no JSON Schema of its own; the objects among ours say what they are.
        if (valibotSchema.type === 'custom') return { ...made, type: 'object', additionalProperties: true };
        if (valibotSchema.type === 'record') return recordOf(made);
        if (valibotSchema.type === 'variant') return discriminated(valibotSchema as Variant, made);
        // openapi-python-client writes Python that does not compile for an optional constant that is a boolean.
        if (valibotSchema.type === 'optional' && typeof made.const === 'boolean') {
          const { const: _, ...rest } = made;
          return { ...rest, type: 'boolean' };
        }
        // What may be anything may be null.
        if (valibotSchema.type === 'nullable' && JSON.stringify(made.anyOf) === '[{},{"type":"null"}]') return {};
        if (made.default !== undefined) return defaultInWords(made);
        if (Array.isArray(made.required) && made.required.length === 0) {
          const { required: _, ...rest } = made;
          return rest;
        }
        return undefined;
      },
    }) as Record<string, JsonSchema>;
    for (const [name, schema] of Object.entries(made)) describeFields(schema, name);
    return made;
  }
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

/**
 * What a field means, where its schema does not say: what its name means everywhere, or in this component. `name` and
 * `Component.name` are the keys of field-descriptions.json.
 */
export function fieldDescription(name: string, component = ''): string | undefined {
  const known: Readonly<Record<string, string>> = descriptions;
  return known[`${component}.${name}`] ?? known[name];
}

function describeFields(node: unknown, component: string): void {
  if (typeof node !== 'object' || node === null) return;
  const { properties } = node as { properties?: Record<string, JsonSchema> };
  for (const [name, field] of Object.entries(properties ?? {})) {
    const words = field.description ?? takeDescription(field) ?? fieldDescription(name, component);
    if (words !== undefined) field.description = words;
  }
  for (const part of Object.values(node)) describeFields(part, component);
}

// What is said of the one form of a field that may also be null, is said of the field.
function takeDescription({ anyOf = [] }: JsonSchema): unknown {
  const described = (anyOf as JsonSchema[]).filter(({ description }) => description !== undefined);
  const [only] = described;
  if (only === undefined || described.length > 1) return undefined;
  const { description } = only;
  delete only.description;
  return description;
}

// Generators of types take a property with a default for one that is always there, in requests too.
function defaultInWords({ default: value, description, ...rest }: JsonSchema): JsonSchema {
  const words = `Default: \`${JSON.stringify(value)}\`.`;
  return { ...rest, description: description === undefined ? words : `${description} ${words}` };
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
