import { reservedNames, type Variables } from './variables.ts';

/** Most names of a template that are looked for among similar ones; nobody writes more by hand. */
const mostNames = 500;

/** A name as similar names are compared: without regard to case, spaces and underscores. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_]/g, '');
}

/**
 * Every word in the outputs and tags of a Liquid source that may be the name of a variable, and every quoted key in brackets. Has
 * more than the variables: keywords and filters too.
 */
export function namesIn(source: string): string[] {
  const found = new Set<string>();
  for (const [tag] of source.matchAll(/\{\{.*?\}\}|\{%.*?%\}/gs)) {
    for (const [, key = ''] of tag.matchAll(/\[\s*["'](.*?)["']\s*\]/gs)) found.add(key);
    for (const [name] of tag.matchAll(/[\p{L}_][\p{L}\p{N}_-]*/gu)) found.add(name);
  }
  return [...found].filter((name) => !reservedNames.has(name) && name !== 'event').slice(0, mostNames);
}

/**
 * Variables in which a name that no source has is the contact's field that differs from it in case, spaces and underscores only:
 * `firstName` finds `first_name`. A name with two such fields stays missing. `names` are those of the template, `fields` the data
 * of the contact.
 */
export function withSimilarFields(
  variables: Variables,
  names: readonly string[],
  fields: Readonly<Record<string, unknown>>,
): Variables {
  const { data, context } = variables;
  const missing = names.filter((name) => !Object.hasOwn(data, name) && !(context && Object.hasOwn(context, name)));
  if (missing.length === 0) return variables;
  const similar = bySimilarName(Object.keys(fields));
  const found = missing.flatMap((name): [string, unknown][] => {
    const field = similar.get(plainName(name));
    return field === undefined || field === null ? [] : [[name, fields[field]]];
  });
  if (found.length === 0) return variables;
  const all = { ...data, ...Object.fromEntries(found) };
  return { ...variables, data: all, reserved: { ...variables.reserved, data: all } };
}

/** Fields by the names they are similar to; null where two are. */
function bySimilarName(fields: readonly string[]): Map<string, string | null> {
  const similar = new Map<string, string | null>();
  for (const field of fields) {
    const name = plainName(field);
    similar.set(name, similar.has(name) ? null : field);
  }
  return similar;
}
