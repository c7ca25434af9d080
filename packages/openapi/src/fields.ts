import type { JsonSchema } from './json-schema.ts';

/**
 * What fields mean, where their schemas do not say: by a name, for what it means everywhere, and by `Component.name`, for what it means
 * in that component.
 */
export type FieldDescriptions = Readonly<Record<string, string>>;

/** What a field of a component means, if anything is known of it. */
export function fieldDescription(known: FieldDescriptions, name: string, component: string): string | undefined {
  return known[`${component}.${name}`] ?? known[name];
}

/** Describes the fields of a component, at any depth, that have no description of their own. */
export function describeFields(node: unknown, component: string, known: FieldDescriptions): void {
  if (typeof node !== 'object' || node === null) return;
  const { properties = {} } = node as { properties?: Record<string, JsonSchema> };
  for (const [name, field] of Object.entries(properties)) {
    const words = field.description ?? takeDescription(field) ?? fieldDescription(known, name, component);
    if (words !== undefined) field.description = words;
  }
  for (const part of Object.values(node)) describeFields(part, component, known);
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
