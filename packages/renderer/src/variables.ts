import { contactKeys } from '@fernpost/earlier-name';

/**
 * Names that always mean what the service says, whatever a contact or a request calls its own values
 * (docs/contract/core.md#2-4).
 */
export const reservedNames: ReadonlySet<string> = new Set([
  'data',
  'fernpost_id',
  'fernpost_email',
  ...Object.values(contactKeys),
  'id',
  'email',
  'subscribed',
  'locale',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
]);

/** Reserved names whose values only the service itself can write, so that they are never escaped. */
export const ownNames: ReadonlySet<string> = new Set([
  'fernpost_id',
  contactKeys.id,
  'id',
  'subscribed',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
]);

/** The recipient's pages, as complete URLs. */
export interface RecipientUrls {
  unsubscribeUrl: string;
  subscribeUrl: string;
  manageUrl: string;
}

/** The facts about a contact that templates see. */
export interface TemplateContact {
  id: string;
  email: string;
  subscribed: boolean;
  data: Readonly<Record<string, unknown>>;
}

/** The sources of variables. */
export interface VariableSources {
  contact: TemplateContact;
  /** The `data` of the request; a `{ value, persistent: false }` stands for its value. Its keys win over the contact's. */
  requestData?: Readonly<Record<string, unknown>> | null | undefined;
  /** The context of an automation's run: visible as `event`, and its keys at the top, where they win over the contact's. */
  event?: Readonly<Record<string, unknown>> | null | undefined;
  urls: RecipientUrls;
  /** Gets the expression of each output that prints nothing because its value is missing, where somebody asks. */
  missing?: Set<string> | null | undefined;
}

/**
 * The variables of one message. A name is looked up in `reserved`, then in `context`, then in `data`. The keys in
 * `trusted` came with the request itself and are inserted into HTML as they are; everything else in `context` and `data`
 * may have been written by a stranger. Null stands for none.
 */
export interface Variables {
  readonly reserved: Readonly<Record<string, unknown>>;
  readonly context: Readonly<Record<string, unknown>> | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly trusted: ReadonlySet<string> | null;
  readonly missing?: Set<string> | null;
}

/** Joins a contact, the data of a request, an automation's context and the recipient's URLs into variables. */
export function buildVariables({ contact, requestData, event, urls, missing = null }: VariableSources): Variables {
  const request = requestData ? unwrap(requestData) : null;
  const data = request ? { ...contact.data, ...request } : contact.data;
  const context = event ? unwrap(event) : null;
  const locale = ownValue(contact.data, 'locale');
  const reserved = {
    data,
    fernpost_id: contact.id,
    fernpost_email: contact.email,
    [contactKeys.id]: contact.id,
    [contactKeys.email]: contact.email,
    id: contact.id,
    email: contact.email,
    subscribed: contact.subscribed,
    locale: typeof locale === 'string' ? locale : null,
    unsubscribeUrl: urls.unsubscribeUrl,
    subscribeUrl: urls.subscribeUrl,
    manageUrl: urls.manageUrl,
  };
  return {
    reserved: context ? { ...reserved, event: context } : reserved,
    context,
    data,
    trusted: request ? new Set(Object.keys(request)) : null,
    missing,
  };
}

/** The value of a top-level name, or undefined. */
export function lookUp(variables: Variables, name: string): unknown {
  if (Object.hasOwn(variables.reserved, name)) return variables.reserved[name];
  if (variables.context !== null && Object.hasOwn(variables.context, name)) return variables.context[name];
  return Object.hasOwn(variables.data, name) ? variables.data[name] : undefined;
}

/** Whether a value prints as nothing. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** All variables as one new object, as Liquid wants them. */
export function flatten(variables: Variables): Record<string, unknown> {
  return { ...variables.data, ...variables.context, ...variables.reserved };
}

/** Whether a value of `data` is `{ value, persistent: false }`: for this request only (docs/contract/core.md#2-1). */
export function isTransient(value: unknown): value is { value: unknown; persistent: false } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.hasOwn(value, 'value') &&
    (value as { persistent?: unknown }).persistent === false
  );
}

function unwrap(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data)) {
    if (key !== '__proto__') plain[key] = isTransient(value) ? value.value : value;
  }
  return plain;
}

function ownValue(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

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
