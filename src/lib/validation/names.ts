import type * as v from 'valibot';

const names = new Map<v.GenericSchema, string>();
const shapes = new WeakMap<v.GenericSchema, v.GenericSchema>();
const fields = new Map<v.GenericSchema, DescribedField>();

/** A schema in one place of another one, with what it means there. */
export interface DescribedField {
  text: string;
  schema: v.GenericSchema;
}

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
 * Describes a field in the object that it belongs to: `id: field('ID of the contact.', Uuid)`. A named schema stays the
 * component it is.
 */
export function field<Schema extends v.GenericSchema>(text: string, schema: Schema): Schema {
  // Actions of a pipe would not do: the converter takes a pipe of a named schema apart, and drops what follows a transformation.
  const own = { ...schema };
  const shape = shapes.get(schema);
  if (shape !== undefined) shapes.set(own, shape);
  fields.set(own, { text, schema: fields.get(schema)?.schema ?? schema });
  return own;
}

/** Every field that was described. */
export function describedFields(): ReadonlyMap<v.GenericSchema, DescribedField> {
  return fields;
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
