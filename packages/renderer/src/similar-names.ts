import { reservedNames, type Variables } from './variables.ts';

/** Most names of a template that are looked for among similar ones; nobody writes more by hand. */
const mostNames = 500;

/** A name as similar names are compared: without regard to case, spaces and underscores. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_]/g, '');
}

/** The names of a template by their plain form, which fields of contacts are compared with. */
export type SimilarNames = ReadonlyMap<string, readonly string[]>;

/**
 * Every word in the outputs and tags of a Liquid source that may be the name of a variable, and every quoted key in brackets, by its
 * plain form. Has more than the variables: keywords and filters too.
 */
export function namesIn(source: string): SimilarNames {
  const found = new Set<string>();
  for (const [tag] of source.matchAll(/\{\{.*?\}\}|\{%.*?%\}/gs)) {
    for (const [, key = ''] of tag.matchAll(/\[\s*["'](.*?)["']\s*\]/gs)) found.add(key);
    for (const [name] of tag.matchAll(/[\p{L}_][\p{L}\p{N}_-]*/gu)) found.add(name);
  }
  const names = [...found].filter((name) => !reservedNames.has(name) && name !== 'event').slice(0, mostNames);
  return Map.groupBy(names, plainName);
}

/**
 * Variables in which a name that no source has is the contact's field that differs from it in case, spaces and underscores only:
 * `firstName` finds `first_name`. A name with two such fields stays missing. `names` are those of the template, `fields` the data
 * of the contact. Runs for every message: it walks the fields once and makes nothing where none stands in for a name.
 */
export function withSimilarFields(
  variables: Variables,
  names: SimilarNames,
  fields: Readonly<Record<string, unknown>>,
): Variables {
  if (names.size === 0) return variables;
  const { data, context } = variables;
  let found: Map<string, string | null> | null = null;
  for (const field of Object.keys(fields))
    for (const name of names.get(plainName(field)) ?? []) {
      if (Object.hasOwn(data, name) || (context && Object.hasOwn(context, name))) continue;
      found ??= new Map();
      found.set(name, found.has(name) ? null : field);
    }
  if (found === null) return variables;
  const similar = [...found].flatMap(([name, field]) => (field === null ? [] : [[name, fields[field]] as const]));
  if (similar.length === 0) return variables;
  const all = { ...data, ...Object.fromEntries(similar) };
  return { ...variables, data: all, reserved: { ...variables.reserved, data: all } };
}
