import type * as v from 'valibot';
import { namedSchemas } from '../../lib/validation/fields.ts';
import { type JsonSchema, jsonSchemas, type Mode, nameIn, referenceTo } from './json-schema.ts';

/**
 * JSON Schemas of requests (`input`) and answers (`output`). A schema with a name becomes a component, and so does every object
 * that an operation takes or returns, by the name it is asked for with.
 */
export class ComponentSchemas {
  readonly #names = new Map<v.GenericSchema, string>(namedSchemas());
  readonly #made: Record<Mode, Record<string, JsonSchema>>;
  readonly #used = new Map<string, JsonSchema>();

  /**
   * Takes every schema of the document with the name that it gets unless it has one.
   * @throws Error when two schemas would have one name
   */
  constructor(asked: Iterable<{ name: string; schema: v.GenericSchema }>) {
    const taken = new Set(this.#names.values());
    for (const { name, schema } of asked) {
      if (this.#names.has(schema)) continue;
      if (taken.has(name)) throw new Error(`Two schemas have the name ${name} in the API reference`);
      this.#names.set(schema, name);
      taken.add(name);
    }
    this.#made = { input: jsonSchemas(this.#names, 'input'), output: jsonSchemas(this.#names, 'output') };
  }

  /** The schema itself, without a reference to it. */
  whole(schema: v.GenericSchema, mode: Mode): JsonSchema {
    const made = this.#component(this.#nameOf(schema), mode);
    this.#useAll(made, mode);
    return made;
  }

  /** A reference to the schema, which becomes a component; what is neither an object nor has a name stands where it is used. */
  of(schema: v.GenericSchema, mode: Mode): JsonSchema {
    const made = this.whole(schema, mode);
    const isNamed = namedSchemas().has(schema);
    if (!isNamed && made.type !== 'object' && made.anyOf === undefined && made.oneOf === undefined) return made;
    const name = this.#nameOf(schema);
    this.#use(name, mode);
    return { $ref: referenceTo(name) };
  }

  /** The components that were referred to, by their names. */
  components(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#used].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #nameOf(schema: v.GenericSchema): string {
    const name = this.#names.get(schema);
    if (name === undefined)
      throw new Error('A schema that belongs to no operation of its own needs a name: see nameSchemas');
    return name;
  }

  #component(name: string, mode: Mode): JsonSchema {
    const made = this.#made[mode][name];
    if (made === undefined) throw new Error(`There is no component ${name}`);
    return made;
  }

  #use(name: string, mode: Mode): void {
    const made = this.#component(name, mode);
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
      if (key === '$ref' && typeof value === 'string') this.#use(nameIn(value), mode);
      else this.#useAll(value, mode);
  }
}
