import type * as v from 'valibot';
import type { JsonSchema } from './json-schema.ts';
import type { Method } from './operation-id.ts';

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
      /** What checks it as JSON. */
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
  description: string;
  /** Names of headers of the description that it may have. */
  headers: readonly string[];
  /** What it carries as JSON. */
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
  success: Answer & { statuses: readonly number[] };
  /** How it may fail. */
  failures: readonly Failure[];
}

/** An answer to a request that failed. */
export interface Failure extends Answer {
  status: Status;
  /** Its name among the responses of the document: failures with the same name are the same. */
  name: string;
}

/** What the document says beside the operations. */
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
