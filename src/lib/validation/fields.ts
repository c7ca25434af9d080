import * as v from 'valibot';
import type { FieldProblem } from './problems.ts';

const names = new Map<v.GenericSchema, string>();
const shapes = new WeakMap<v.GenericSchema, v.GenericSchema>();
const fields = new Map<v.GenericSchema, DescribedField>();

/** A schema in one place of another one, with what it means there. */
interface DescribedField {
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

/** Returns the schema that describes another in its place, if any. */
export function shapeOf(schema: v.GenericSchema): v.GenericSchema | undefined {
  return shapes.get(schema);
}

// valibot has no place for a code of our own on a check; the predicate itself is the key.
const predicateCodes = new WeakMap<object, string>();

/** A check whose failure is reported with this code in place of `custom`. */
export function coded<Input>(code: string, predicate: (input: Input) => boolean, message: string) {
  const own = (input: Input) => predicate(input);
  predicateCodes.set(own, code);
  return v.check(own, message);
}

const hasTwoDecimals = (percent: number) => Math.abs(percent * 100 - Math.round(percent * 100)) < 1e-6;

/** A percentage from 0 to 100 with at most two decimals. */
export const Percentage = v.pipe(
  v.number('must be a number'),
  v.minValue(0, 'must be 0 or more'),
  v.maxValue(100, 'must be 100 or less'),
  coded('custom', hasTwoDecimals, 'must have at most 2 decimals'),
);

/** `coded` for a rule that spans fields: reported at the given key of the object. */
export function codedAt<Input extends object>(
  code: string,
  key: string,
  predicate: (input: Input) => boolean,
  message: string,
) {
  return v.rawCheck<Input>(({ dataset, addIssue }) => {
    if (dataset.typed && !predicate(dataset.value))
      addIssue({
        message: `${code}\u0000${message}`,
        path: [
          { type: 'object', origin: 'value', input: dataset.value as Record<string, unknown>, key, value: undefined },
        ],
      });
  });
}

/** The code that `coded` gave to the check behind an issue, if it was one. */
export function ownCode({ requirement }: v.BaseIssue<unknown>): string | undefined {
  return typeof requirement === 'function' ? predicateCodes.get(requirement) : undefined;
}

/** Text without line breaks, for what ends up in a mail header. */
export const singleLine = (label: string) =>
  coded<string>('invalid_string', (text) => !/[\r\n]/.test(text), `${label} must not contain line breaks`);

/** A string of the given lengths; `too_small` and `too_big` outside. */
export const textField = (label: string, min: number, max: number) =>
  v.pipe(
    v.string(`${label} must be a string`),
    v.minLength(min, min === 1 ? `${label} must not be empty` : `${label} must have at least ${min} characters`),
    v.maxLength(max, `${label} must have at most ${max} characters`),
  );

/** A UUID as it was written. */
export const Uuid = v.pipe(v.string('must be a UUID'), v.uuid('must be a UUID'));
/** A UUID of a request, in lower case, as ids are kept and compared. */
export const GivenUuid = v.pipe(Uuid, v.toLowerCase());
/** An instant as ISO 8601. */
export const Instant = v.pipe(v.string(), v.isoTimestamp());
export const NullableInstant = v.nullable(Instant);
/** An instant of a request, in UTC as instants are kept and compared: a day that there is, and an offset of at most ±15:59. */
export const GivenInstant = v.pipe(
  v.string(),
  v.isoTimestamp('must be an instant such as 2026-12-24T18:00:00Z'),
  coded(
    'invalid_string',
    (text) => utcOf(text) !== null,
    'must be an instant that exists, such as 2026-12-24T18:00:00Z',
  ),
  v.transform((text) => utcOf(text) ?? text),
);

// `new Date` would take 30 February for the second of March, and Postgres reads neither that nor larger offsets. What has another form
// is refused before.
function utcOf(text: string): string | null {
  const [all, day = '', time = '', zone = ''] = /^(\d{4}-\d\d-\d\d)[T ]([\d:.]+)(Z|[+-].+)$/.exec(text) ?? [];
  if (all === undefined) return text;
  const [, sign = '', hours = '00', minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (Number(hours) > 15 || !isDay(day)) return null;
  const instant = new Date(`${day}T${time}${sign === '' ? 'Z' : `${sign}${hours}:${minutes}`}`);
  const isInRange = instant.getTime() >= firstInstant && instant.getTime() <= lastInstant;
  return isInRange ? instant.toISOString() : null;
}

function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

const firstInstant = Date.parse('0001-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** One of the words. */
export const choice = <const Words extends readonly string[]>(words: Words) =>
  v.picklist(words, `must be one of ${words.join(', ')}`);

/** A whole number of a response. */
export const Integer = v.pipe(v.number(), v.integer());
/** A whole number within bounds. */
export const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

/** A time of day, such as `09:00`. */
export const TimeOfDay = v.pipe(
  v.string('must be a time, for example "09:00"'),
  coded<string>(
    'invalid_string',
    (text) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text),
    'must be a time, for example "09:00"',
  ),
);

/** Days of the week, from 1 for Monday to 7 for Sunday. */
export const Weekdays = v.pipe(
  v.array(wholeNumber(1, 7), 'must be a list of days'),
  v.minLength(1, 'must have at least one day'),
  v.maxLength(7, 'must have at most 7 days'),
);

/** A JSON object (no array, not null) with free keys. */
export const JsonObject = v.custom<Record<string, unknown>>(
  (input) => typeof input === 'object' && input !== null && !Array.isArray(input),
  'must be an object',
);

/** A parameter of a query string that may be absent, with what the API reference says of it: text, and JSON Schema. */
export const parameter = (description: string, schema: Readonly<Record<string, unknown>> = {}) =>
  v.optional(v.pipe(v.string(), v.description(description), v.metadata(schema)));

// The first words of messages that continue the name of their field.
const predicate = /^(must|is|are|has|have|may|can|cannot|needs|fits|does) /;

/** A problem as a sentence: `"to.1" must be an email address`. */
export function sentenceOf({ field, message }: FieldProblem): string {
  const place = field === '' ? 'The request body' : `"${field}"`;
  const own = `${field.slice(field.lastIndexOf('.') + 1)} `;
  const said = message.startsWith(own) ? message.slice(own.length) : message;
  return predicate.test(said) ? `${place} ${said}` : `${place} is invalid: ${message}`;
}

// These descriptions of parameters are for the API reference and for generated clients. Routes read the text themselves: a value
// that is none of the accepted ones is the default (docs/contract/core.md#4).

/** How many items a page has. */
export const limitParameter = (fallback: number, maximum: number) =>
  parameter(`Number of items on a page, 1 to ${maximum}.`, wholeParameter(fallback, maximum));

/** `page` and `pageSize` of a list that pages by number. */
export const pageParameters = (maximum: number) => ({
  page: parameter('Page number, counting from 1.', wholeParameter(1)),
  pageSize: parameter(`Number of items on a page, 1 to ${maximum}.`, wholeParameter(20, maximum)),
});

/** A whole number from 1 on. */
export const numberParameter = (description: string, fallback: number, maximum: number) =>
  parameter(description, wholeParameter(fallback, maximum));

/** One of several words. */
export const choiceParameter = (description: string, values: readonly string[], fallback?: string) =>
  parameter(description, { enum: [...values], ...(fallback === undefined ? {} : { default: fallback }) });

/** The direction of a sort. */
export const directionParameter = choiceParameter(
  'Sort order: `asc` for ascending, `desc` for descending.',
  ['asc', 'desc'],
  'desc',
);

/** One end of a window. */
export const dayParameter = (description: string) => parameter(description, { examples: ['2026-11-01'] });

function wholeParameter(fallback: number, maximum?: number) {
  return { type: 'integer', minimum: 1, ...(maximum === undefined ? {} : { maximum }), default: fallback };
}
