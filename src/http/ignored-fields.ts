import * as v from 'valibot';
import { withSubscription } from '../lib/contact-data.ts';
import { editDistance } from '../lib/text.ts';
import { shapeOf } from '../lib/validation/fields.ts';
import type { Route } from './route.ts';

type Schema = v.GenericSchema;
/** The fields of an object by name; null where it takes any. */
type Fields = ReadonlyMap<string, Schema> | null;

/** The response header that names what a request brought and nobody read. */
export const ignoredFieldsHeader = 'X-Ignored-Fields';

/** Most names that the header lists; a request with more has its first ones named. */
const mostNamed = 20;
/** Longest name of a field that the header shows whole. */
const longestName = 60;

/** A field or query parameter that was ignored. */
export interface IgnoredField {
  /** Its path with dots, such as `steps.0.subjekt`. */
  name: string;
  /** The field that does what it was probably meant to do. */
  use?: string;
  /** It is a query parameter: unknown, or with a value that its default replaced. */
  inQuery?: true;
}

// Names for which other services have another word than this one. A word counts only where the request's schema knows it.
const ourWords: Readonly<Record<string, string>> = {
  attachment: 'attachments',
  attributes: 'data',
  customfields: 'data',
  fields: 'data',
  properties: 'data',
  traits: 'data',
  metadata: 'data',
  html: 'body',
  htmlbody: 'body',
  textbody: 'text',
  sendat: 'scheduledFor',
  scheduledat: 'scheduledFor',
  replyto: 'reply',
  templateid: 'template',
  unsubscribed: 'subscribed',
  emailaddress: 'email',
  eventname: 'event',
};

/** Whether responses of a route name what a request brought in vain: those that belong to a project or an account. */
export function namesIgnoredFields({ access }: Pick<Route, 'access'>): boolean {
  return access !== 'none';
}

/**
 * Returns the parts of a request that a route does not read: fields of the body that its schema does not know, then query parameters that are
 * unknown or whose value the default replaces. A field of the response is known too, so that a resource can be sent back as it was
 * read. The first 20.
 */
export function ignoredFieldsOf(
  { body: schema, bodyKind, query: parameters, reply }: Pick<Route, 'body' | 'bodyKind' | 'query' | 'reply'>,
  query: Readonly<Record<string, unknown>>,
  body: unknown,
): IgnoredField[] {
  const found: IgnoredField[] = [];
  if (schema !== undefined && bodyKind === undefined) search(body, schema, reply, '', found);
  const known = parameters === undefined ? new Map<string, Schema>() : fieldsOf(parameters);
  if (known === null) return found;
  for (const [name, value] of Object.entries(query)) {
    const parameter = known.get(name);
    if (parameter !== undefined && isAccepted(value, parameter)) continue;
    const use = parameter === undefined ? similarName(name, known) : undefined;
    found.push({ name, ...(use === undefined ? {} : { use }), inQuery: true });
  }
  return found.slice(0, mostNamed);
}

/**
 * The header's value, a list of RFC 9651: `first_name;use="data.firstName", limit;in=query`. Names that are no tokens are
 * percent-encoded strings.
 */
export function ignoredFieldsText(fields: readonly IgnoredField[]): string {
  return fields
    .slice(0, mostNamed)
    .map(({ name, use, inQuery }) => {
      const item = isToken(name) ? name : quoted(name);
      return `${item}${use === undefined ? '' : `;use=${isToken(use) ? use : quoted(use)}`}${inQuery ? ';in=query' : ''}`;
    })
    .join(', ');
}

/** The body as a route reads it: `unsubscribed: true` is `subscribed: false` for schemas that know the one and not the other. */
export function readableBody(body: unknown, schema: Schema): unknown {
  const fields = fieldsOf(schema);
  return fields?.has('subscribed') && !fields.has('unsubscribed') ? withSubscription(body) : body;
}

function search(
  value: unknown,
  schema: Schema | undefined,
  reply: Schema | undefined,
  path: string,
  found: IgnoredField[],
): void {
  if (typeof value !== 'object' || value === null || schema === undefined || found.length >= mostNamed) return;
  if (Array.isArray(value)) {
    const item = itemOf(schema);
    const replied = reply && itemOf(reply);
    if (item !== undefined)
      for (const [place, one] of value.entries()) search(one, item, replied, `${path}${place}.`, found);
    return;
  }
  const fields = fieldsOf(schema);
  if (fields === null) return;
  const replied = reply === undefined ? null : fieldsOf(reply);
  for (const [key, inner] of Object.entries(value)) {
    const known = fields.get(key);
    if (known !== undefined) search(inner, known, replied?.get(key), `${path}${key}.`, found);
    else if (found.length < mostNamed && !replied?.has(key) && !isReadAsSubscribed(key, value, fields)) {
      const use = similarName(key, fields);
      found.push({ name: path + key, ...(use === undefined ? {} : { use: path + use }) });
    }
  }
}

function isReadAsSubscribed(key: string, value: object, fields: ReadonlyMap<string, Schema>): boolean {
  return key === 'unsubscribed' && fields.has('subscribed') && withSubscription(value) !== value;
}

/** The known field that a name was probably meant for: another service's word, another spelling, or one or two slips away. */
function similarName(name: string, fields: ReadonlyMap<string, Schema>): string | undefined {
  const plain = (text: string) =>
    text
      .slice(0, longestName)
      .toLowerCase()
      .replaceAll(/[\s_.-]/g, '');
  const meant = plain(name);
  const word = ourWords[meant];
  if (word !== undefined && fields.has(word)) return word;
  let nearest: { field: string; distance: number } | undefined;
  for (const field of fields.keys()) {
    const limit = field.length > 5 ? 2 : field.length > 3 ? 1 : 0;
    const distance = editDistance(meant, plain(field), limit);
    if (distance <= limit && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY)) nearest = { field, distance };
  }
  if (nearest !== undefined) return nearest.field;
  // Facts about a contact belong in its data, in the letter case of the starters' variables.
  const isOfContact = fields.has('data') && fields.has('email') && /^\w[\w -]*$/.test(name);
  return isOfContact ? `data.${camelCase(name)}` : undefined;
}

function camelCase(name: string): string {
  return name.replaceAll(/[_\s-]+(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const knownFields = new WeakMap<Schema, { fields: Fields }>();

function fieldsOf(given: Schema): Fields {
  const kept = knownFields.get(given);
  if (kept !== undefined) return kept.fields;
  const fields = readFields(given);
  knownFields.set(given, { fields });
  return fields;
}

// The fields of any kind of schema, whatever its type.
interface AnyShape {
  type: string;
  entries?: Record<string, Schema>;
  wrapped?: Schema;
  options?: readonly Schema[];
  item?: Schema;
}

const shapeFor = (schema: Schema) => (shapeOf(schema) ?? schema) as unknown as AnyShape;

function readFields(given: Schema): Fields {
  const { type, entries, wrapped, options } = shapeFor(given);
  if (entries !== undefined && type !== 'picklist' && type !== 'enum') return new Map(Object.entries(entries));
  if (wrapped !== undefined) return fieldsOf(wrapped);
  if (type !== 'union' && type !== 'variant' && type !== 'intersect') return null;
  const objects = (options as readonly Schema[]).filter((option) => !isPlain(option)).map(fieldsOf);
  // A form that takes any object takes every field.
  if (objects.length === 0 || objects.includes(null)) return null;
  return new Map(objects.flatMap((fields) => [...(fields ?? [])]));
}

/** Whether a schema takes no objects. */
function isPlain(schema: Schema): boolean {
  return ['string', 'number', 'boolean', 'null', 'literal', 'picklist', 'array'].includes(shapeFor(schema).type);
}

function itemOf(given: Schema): Schema | undefined {
  const { type, item, wrapped, options } = shapeFor(given);
  if (type === 'array') return item;
  if (wrapped !== undefined) return itemOf(wrapped);
  return type === 'union' ? options?.map(itemOf).find((found) => found !== undefined) : undefined;
}

/** Whether a parameter's value is one that its description in the API reference allows; repetitions are left to the schema. */
function isAccepted(value: unknown, schema: Schema): boolean {
  if (typeof value !== 'string' || value === '') return true;
  const { wrapped } = schema as unknown as AnyShape;
  const {
    type,
    minimum,
    maximum,
    enum: words,
  } = v.getMetadata((wrapped ?? schema) as Schema) as Record<string, unknown>;
  if (Array.isArray(words)) return words.includes(value);
  if (type === 'boolean') return value === 'true' || value === 'false';
  if (type !== 'integer') return true;
  const number = /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
  return (
    number >= (typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY) &&
    number <= (typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY)
  );
}

const isToken = (text: string) => text.length <= longestName && /^[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*$/.test(text);

function quoted(text: string): string {
  const short = text.length <= longestName ? text : `${text.slice(0, longestName)}…`;
  return `"${encodeURIComponent(short.toWellFormed()).replaceAll('%20', ' ')}"`;
}
