/** The parts of an OpenAPI 3.1 document that the reference shows. */
export interface OpenApiDocument {
  info: { title: string; description?: string };
  servers: readonly { url: string }[];
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: {
    schemas: Readonly<Record<string, Schema>>;
    parameters: Readonly<Record<string, Parameter>>;
    responses: Readonly<Record<string, Response>>;
    headers: Readonly<Record<string, Header>>;
  };
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: readonly string[];
  security?: readonly Readonly<Record<string, unknown>>[];
  parameters?: readonly (Parameter | SchemaReference)[];
  requestBody?: { description?: string; content: Readonly<Record<string, Media>> };
  responses: Readonly<Record<string, Response | SchemaReference>>;
}

export interface SchemaReference {
  $ref: string;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

interface Media {
  schema?: Schema;
  example?: unknown;
}

export interface Header {
  description: string;
}

export interface Response {
  description: string;
  headers?: Readonly<Record<string, Header | SchemaReference>>;
  content?: Readonly<Record<string, Media>>;
}

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

/** What a reference stands for, with the last part of its path. */
export function resolve<Part>(
  document: OpenApiDocument,
  part: Part | SchemaReference,
): { name: string | null; part: Part } {
  if (typeof part !== 'object' || part === null || !('$ref' in part) || part.$ref === undefined)
    return { name: null, part: part as Part };
  const [, , kind = '', name = ''] = String(part.$ref).split('/');
  const components = document.components as unknown as Record<string, Record<string, Part>>;
  const found = components[kind]?.[name];
  if (found === undefined) throw new Error(`${part.$ref} leads nowhere`);
  return { name, part: found };
}
