import { parseTemplate, TemplateSyntaxError } from '@fernpost/renderer';
import * as v from 'valibot';
import { choice, coded, field, textField, wholeNumber } from '../../lib/validation/fields.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
const maxHeaders = 50;

const url = v.pipe(
  textField('url', 1, 4000),
  coded<string>(
    'invalid_string',
    (text) => literalOrigin(text) !== null,
    'must begin with http:// or https:// and a literal host',
  ),
  coded<string>(
    'invalid_string',
    (text) => literalOrigin(text)?.username === '' && literalOrigin(text)?.password === '',
    'must not hold a user name or a password: use the header Authorization',
  ),
);

/** Config of a WEBHOOK step: path, query, header values and the strings of the body may hold Liquid. */
export const WebhookConfig = v.object({
  url: field(
    'URL to call, up to 4,000 characters. Scheme and host are literal; path and query can contain Liquid variables.',
    url,
  ),
  method: field('HTTP method of the call.', v.optional(choice(methods), 'POST')),
  headers: field(
    'Headers of the call, up to 50; values can contain Liquid variables.',
    v.nullish(
      v.pipe(
        v.record(
          v.string(),
          v.pipe(v.string('must be a string'), v.maxLength(8000, 'must have at most 8000 characters')),
        ),
        coded<Record<string, string>>(
          'too_big',
          (headers) => Object.keys(headers).length <= maxHeaders,
          `must have at most ${maxHeaders} headers`,
        ),
        coded<Record<string, string>>(
          'invalid_string',
          (headers) => Object.keys(headers).every((name) => headerName.test(name)),
          'must have names that HTTP allows for headers',
        ),
      ),
    ),
  ),
  body: field(
    'JSON body of the call; its strings can contain Liquid variables. When absent, `contact`, `workflow`, `execution` and `event` are sent.',
    v.optional(v.unknown()),
  ),
  failOnError: field(
    'Whether a response other than 2xx fails the execution.',
    v.optional(v.boolean('must be true or false'), false),
  ),
  retries: field('Number of retries after no response, 429 and 5xx; 0 to 5.', v.optional(wholeNumber(0, 5), 0)),
});
export type WebhookConfig = v.InferOutput<typeof WebhookConfig>;

/** The URL's scheme, host and port without anything rendered, or null where they are not literal. */
export function literalOrigin(text: string): URL | null {
  const [origin = ''] = /^https?:\/\/[^/?#\s\\]+/i.exec(text) ?? [];
  return /[{}%]/.test(origin) ? null : URL.parse(origin);
}

/** The first template of a webhook's config that does not parse: its field within the config, its place and why. */
export function webhookSyntaxError(config: Record<string, unknown>) {
  for (const [field, source] of templatesOf({ url: config.url, headers: config.headers, body: config.body })) {
    try {
      parseTemplate(source, { mode: 'text' });
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error;
      return { field, line: error.line, column: error.column, message: error.message };
    }
  }
  return null;
}

function* templatesOf(value: unknown, path = ''): Generator<[field: string, source: string]> {
  if (typeof value === 'string' && /\{[{%]/.test(value)) yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* templatesOf(inner, path === '' ? key : `${path}.${key}`);
}
