import type * as v from 'valibot';
import type { JsonSchema } from './json-schema.ts';

const verbs = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' } as const;

/** The methods that an operation may have. */
type Method = keyof typeof verbs;

/**
 * The name of an operation in generated clients, made from its path in Koa's notation: `listContacts`, `getContact`,
 * `createContact`, `updateContact`, `deleteContact`, `pauseCampaign`, `listCampaignRecipients`.
 */
export function operationId(method: Method, path: string): string {
  const segments = path.split('/').slice(1);
  const isParameter = (segment: string) => segment.startsWith(':');
  const fixed = segments.filter((segment) => !isParameter(segment));
  // The segment before a parameter names one of several: `/contacts/:id` is a contact.
  const owners = fixed.slice(0, -1).map((segment) => words(singular(segment)));
  const noun = fixed.at(-1) ?? '';
  if (segments.slice(-1).some(isParameter)) return camelCase(verbs[method], ...owners, words(singular(noun)));
  if (method === 'GET' && isPlural(noun)) return camelCase('list', ...owners, words(noun));
  if (method !== 'POST') return camelCase(verbs[method], ...owners, words(noun));
  if (isPlural(noun)) return camelCase('create', ...owners, words(singular(noun)));
  // `POST /campaigns/:id/send` is a verb, and so is the first word of `rotate-secret`.
  const [verb = '', ...rest] = noun.split('-');
  return camelCase(verb, ...owners, rest.join('-'));
}

function isPlural(noun: string): boolean {
  return /[^s]s$/.test(noun) && !/(?:status|stats|limits|sns|series|^analytics)$/.test(noun);
}

function singular(noun: string): string {
  if (!isPlural(noun)) return noun;
  return noun.endsWith('ies') ? `${noun.slice(0, -3)}y` : noun.slice(0, -1);
}

function words(text: string): string {
  return text.replaceAll(/\W+/g, '-');
}

function camelCase(...parts: string[]): string {
  return parts
    .flatMap((part) => part.split('-'))
    .filter(Boolean)
    .map((word, index) => (index === 0 ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`))
    .join('');
}

type Schema = v.GenericSchema<unknown, unknown>;

/** An HTTP status, or `default` for every other one. */
export type Status = number | 'default';

/** A parameter of a path. */
export interface PathParameter {
  description?: string | undefined;
  format?: 'uuid' | undefined;
}

/** A body that a request may carry. */
export type RequestBody =
  | {
      /** Checks it as JSON. */
      schema: Schema;
      description?: string;
      /** A body as somebody would send it. */
      example?: unknown;
    }
  | {
      mediaType: string;
      /** The fields of a body that no schema checks. */
      fields: Readonly<Record<string, JsonSchema>>;
      /** Those that may be left out. */
      optional?: readonly string[] | undefined;
      example?: unknown;
    };

/** An answer to a request. */
export interface Answer {
  /** Names of headers of the description that it may have. */
  headers: readonly string[];
  /** The schema of its JSON. */
  schema?: Schema | undefined;
  /** The media type of what it may carry instead: a text, or `image/*`. */
  mediaType?: string | undefined;
}

/** One operation of an API. */
export interface Operation {
  /** Its name in generated clients, such as `getContact`. Requests and answers without names are named after it. */
  id: string;
  method: Method;
  /** Koa's notation: `/contacts/:id`. */
  path: string;
  summary: string;
  description: string;
  /** A tag of the description. */
  tag: string;
  /** Names of the security schemes of the description, of which one is needed; none for what anybody may ask. */
  security: readonly string[];
  /** The parameters that the path names. */
  pathParameters: Readonly<Record<string, PathParameter>>;
  /** An object schema of the query string. */
  query?: Schema | undefined;
  /** Values of its parameters as somebody would send them. */
  queryExample?: unknown;
  /** Names of parameters of the description that it reads too. */
  parameters: readonly string[];
  body?: RequestBody | undefined;
  /** How it succeeds, described by status. */
  success: Answer & { descriptions: Readonly<Record<number, string>> };
  /** How it may fail. */
  failures: readonly Failure[];
}

/** An answer to a request that failed. */
export interface Failure extends Answer {
  status: Status;
  description: string;
  /** Its name among the responses of the document: failures with the same name are the same. */
  name: string;
}

/** The parts of the document beside the operations. */
export interface ApiDescription {
  /** OpenAPI 3.1, 4.8.2. */
  info: { title: string; version: string } & JsonSchema;
  /** Base URL of the API. */
  server: string;
  /** Those that no operation has are left out. */
  tags: readonly { name: string; description: string }[];
  headers: Readonly<Record<string, JsonSchema>>;
  parameters: Readonly<Record<string, JsonSchema>>;
  securitySchemes: Readonly<Record<string, JsonSchema>>;
}
