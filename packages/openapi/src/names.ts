import type * as v from 'valibot';

const names = new Map<v.GenericSchema, string>();
const shapes = new WeakMap<v.GenericSchema, v.GenericSchema>();

/**
 * Gives schemas the names that they have in the document and in clients generated from it: `Contact` is one type
 * wherever it stands. A schema without a name is named after the operation that takes or returns it.
 */
export function nameSchemas(schemas: Readonly<Record<string, v.GenericSchema>>): void {
  for (const [name, schema] of Object.entries(schemas)) names.set(schema, name);
}

/** Every named schema. */
export function namedSchemas(): ReadonlyMap<v.GenericSchema, string> {
  return names;
}

/**
 * A schema that the document describes by another one, which has a name: for values that are checked by a grammar of
 * their own, with faults of their own.
 */
export function describedBy<Schema extends v.GenericSchema>(schema: Schema, shape: v.GenericSchema): Schema {
  shapes.set(schema, shape);
  return schema;
}

/** What describes the schema in its place, if anything. */
export function shapeOf(schema: v.GenericSchema): v.GenericSchema | undefined {
  return shapes.get(schema);
}
