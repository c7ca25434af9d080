import * as v from 'valibot';
import type { FieldProblem } from './errors.ts';

// valibot has no place for a code of our own on a check; the predicate itself is the key.
const predicateCodes = new WeakMap<object, string>();

/** A check whose failure is reported with the given code of contract page 1, 1.3 instead of `custom`. */
export function coded<Input>(code: string, predicate: (input: Input) => boolean, message: string) {
  const own = (input: Input) => predicate(input);
  predicateCodes.set(own, code);
  return v.check(own, message);
}

/** `coded` for a rule that spans fields: reported at the given key of the object. */
export function codedAt<Input extends object>(
  code: string,
  key: string,
  predicate: (input: Input) => boolean,
  message: string,
) {
  const own = (input: Input) => predicate(input);
  predicateCodes.set(own, code);
  return v.rawCheck<Input>(({ dataset, addIssue }) => {
    if (dataset.typed && !own(dataset.value))
      addIssue({
        message: `${code}\u0000${message}`,
        path: [
          { type: 'object', origin: 'value', input: dataset.value as Record<string, unknown>, key, value: undefined },
        ],
      });
  });
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

/** One of the words. */
export const choice = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  v.picklist(words, `must be one of ${words.join(', ')}`);

/** A whole number within bounds. */
export const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

/** A JSON object (no array, not null) with free keys. */
export const JsonObject = v.custom<Record<string, unknown>>(
  (input) => typeof input === 'object' && input !== null && !Array.isArray(input),
  'must be an object',
);

/** A parameter of a query string that may be absent, with what the API reference says of it: text, and JSON Schema. */
export const parameter = (description: string, schema: Readonly<Record<string, unknown>> = {}) =>
  v.optional(v.pipe(v.string(), v.description(description), v.metadata(schema)));

/** Turns valibot's issues into the contract's `errors[]` items. */
export function fieldProblems(issues: readonly v.BaseIssue<unknown>[], prefix = ''): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const issue of issues) problems.push(...problemsOf(issue, prefix));
  return problems;
}

function problemsOf(issue: v.BaseIssue<unknown>, prefix: string): FieldProblem[] {
  const field = joinPath(prefix, v.getDotPath(issue) ?? '');
  const separator = issue.message.indexOf('\u0000');
  if (separator !== -1)
    return [{ field, code: issue.message.slice(0, separator), message: issue.message.slice(separator + 1) }];
  if (issue.type === 'union') {
    const specific = mostSpecific(issue, field);
    return specific.length > 0
      ? specific
      : [{ field, code: 'invalid_union', message: messageOr(issue, 'fits none of the accepted forms') }];
  }
  const code = codeOf(issue);
  const absent = issue.received === 'undefined';
  return [
    {
      field,
      code,
      message: absent && code === 'invalid_type' ? 'is required' : messageOr(issue, 'is invalid'),
      ...(code === 'invalid_type' ? { received: jsonType(issue.input) } : {}),
    },
  ];
}

// Of a union the most specific failures are told: those of the alternative that got past the type of the value.
// Paths of inner issues begin at the value of the union.
function mostSpecific(union: v.BaseIssue<unknown>, field: string): FieldProblem[] {
  const isSpecific = (issue: v.BaseIssue<unknown>) =>
    issue.kind === 'validation' ||
    issue.message.includes('\u0000') ||
    (issue.type === 'union' && (issue.path?.length ?? 0) > 0);
  return (union.issues ?? []).filter(isSpecific).flatMap((issue) => problemsOf(issue, field));
}

function messageOr(issue: v.BaseIssue<unknown>, fallback: string): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message;
  if (issue.kind === 'schema' && issue.type !== 'union')
    return issue.expected === null
      ? fallback
      : `must be ${issue.expected.replaceAll(' | ', ' or ')}, not ${jsonType(issue.input)}`;
  return fallback;
}

function codeOf(issue: v.BaseIssue<unknown>): string {
  const own = typeof issue.requirement === 'function' ? predicateCodes.get(issue.requirement) : undefined;
  if (own !== undefined) return own;
  if (issue.kind === 'schema') {
    if (issue.type === 'picklist' || issue.type === 'enum' || issue.type === 'literal')
      return issue.received === 'undefined' ? 'invalid_type' : 'invalid_enum_value';
    if (issue.type === 'union' || issue.type === 'variant') return 'invalid_union';
    return 'invalid_type';
  }
  return Object.entries(codesOfChecks).find(([, types]) => types.includes(issue.type))?.[0] ?? 'custom';
}

const codesOfChecks: Record<string, readonly string[]> = {
  too_small: ['min_length', 'non_empty', 'min_value', 'min_size'],
  too_big: ['max_length', 'max_value', 'max_size', 'max_bytes'],
  invalid_string: ['email', 'rfc_email', 'uuid', 'url', 'regex', 'base64', 'iso_timestamp'],
  invalid_type: ['integer', 'finite'],
};

/** The JSON name of a value's type; `undefined` when it is absent. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** The dotted path of the first string (key or value) that holds U+0000, or null. However deep the value is, no call nests. */
export function findNul(value: unknown): string | null {
  const open: [path: string, value: unknown][] = [['', value]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, inner] = next;
    if (typeof inner === 'string' && inner.includes('\u0000')) return path;
    if (typeof inner !== 'object' || inner === null) continue;
    const entries = Object.entries(inner);
    if (entries.some(([key]) => key.includes('\u0000'))) return path;
    // The last that is put down is the first that is picked up.
    for (const [key, each] of entries.reverse()) open.push([joinPath(path, key), each]);
  }
  return null;
}

/**
 * JSON with a replacement character where a key or string holds half of a surrogate pair. Objects and arrays are changed in
 * place, and however deep they are, no call nests.
 */
export function wellFormed(value: unknown): unknown {
  const root = { value };
  const open: object[] = [root];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    for (const [key, inner] of Object.entries(holder)) {
      if (typeof inner === 'object' && inner !== null) open.push(inner);
      const [sound, soundKey] = [typeof inner === 'string' ? inner.toWellFormed() : inner, key.toWellFormed()];
      if (sound === inner && soundKey === key) continue;
      if (soundKey !== key) Reflect.deleteProperty(holder, key);
      // An assignment to `__proto__` would not make a property.
      Object.defineProperty(holder, soundKey, { value: sound, writable: true, enumerable: true, configurable: true });
    }
  }
  return root.value;
}

function joinPath(one: string, other: string): string {
  return one === '' ? other : other === '' ? one : `${one}.${other}`;
}
