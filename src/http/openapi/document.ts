import type * as v from 'valibot';
import { ComponentSchemas } from './components.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Answer, ApiDescription, Operation, RequestBody } from './operation.ts';

/**
 * The OpenAPI 3.1 document of an API. A schema stands once, below `components`, and is referred to by its name.
 * @throws Error when two schemas would have one name, or one differs between requests and answers
 */
export function openApiDocument(api: ApiDescription, operations: readonly Operation[]): JsonSchema {
  return new DocumentWriter(api, operations).write();
}

class DocumentWriter {
  readonly #api: ApiDescription;
  readonly #operations: readonly Operation[];
  readonly #schemas: ComponentSchemas;
  /** The failures that operations refer to, by their names. */
  readonly #failures = new Map<string, JsonSchema>();

  constructor(api: ApiDescription, operations: readonly Operation[]) {
    this.#api = api;
    this.#operations = operations;
    this.#schemas = new ComponentSchemas(announced(operations));
  }

  write(): JsonSchema {
    const { info, server, tags, headers, parameters, securitySchemes } = this.#api;
    const paths: Record<string, JsonSchema> = {};
    for (const operation of this.#operations) {
      const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
      paths[path] = { ...paths[path], [operation.method.toLowerCase()]: this.#operation(operation) };
    }
    const responses = this.#responses();
    const inUse = new Set(this.#operations.map(({ tag }) => tag));
    return {
      openapi: '3.1.0',
      info,
      servers: [{ url: server }],
      tags: tags.filter(({ name }) => inUse.has(name)),
      paths,
      components: { schemas: this.#schemas.components(), headers, parameters, responses, securitySchemes },
    };
  }

  #operation(operation: Operation): JsonSchema {
    const { summary, description, tag, id, security, body, success } = operation;
    return {
      summary,
      description,
      tags: [tag],
      operationId: id,
      security: security.map((scheme) => ({ [scheme]: [] })),
      parameters: this.#parametersOf(operation),
      ...(body === undefined ? {} : { requestBody: this.#requestBody(body) }),
      responses: {
        ...Object.fromEntries(
          Object.entries(success.descriptions).map(([status, text]) => [status, this.#answer(text, success)]),
        ),
        ...this.#failuresOf(operation),
      },
    };
  }

  #parametersOf({ pathParameters, query, queryExample, parameters }: Operation): JsonSchema[] {
    const inPath = Object.entries(pathParameters).map(([name, { description, format }]) => ({
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string', ...(format === undefined ? {} : { format }) },
    }));
    const { properties = {}, required = [] } = (query ? this.#schemas.whole(query, 'input') : {}) as ObjectSchema;
    const examples = new Map(Object.entries((queryExample ?? {}) as object));
    const inQuery = Object.entries(properties).map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema,
      ...(examples.has(name) ? { example: examples.get(name) } : {}),
    }));
    return [...inPath, ...inQuery, ...parameters.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
  }

  #requestBody(body: RequestBody): JsonSchema {
    const { example } = body;
    const shown = example === undefined ? {} : { example };
    if ('fields' in body)
      return {
        required: true,
        content: { [body.mediaType]: { schema: this.#formOf(body.fields, body.optional), ...shown } },
      };
    const { schema, description } = body;
    const whole: ObjectSchema = this.#schemas.whole(schema, 'input');
    return {
      ...(description === undefined ? {} : { description }),
      // No body is read as an empty object.
      required: whole.type !== 'object' || whole.required !== undefined,
      content: {
        'application/json': {
          schema: this.#schemas.of(schema, 'input'),
          ...shown,
        },
      },
    };
  }

  #formOf(fields: Readonly<Record<string, JsonSchema>>, optional: readonly string[] = []): JsonSchema {
    const required = Object.keys(fields).filter((name) => !optional.includes(name));
    return { type: 'object', properties: fields, required };
  }

  #contentOf({ schema, mediaType }: Pick<Answer, 'schema' | 'mediaType'>): { content?: JsonSchema } {
    const content: JsonSchema = {
      ...(schema === undefined ? {} : { 'application/json': { schema: this.#schemas.of(schema, 'output') } }),
      // Bytes have no schema in OpenAPI 3.1.
      ...(mediaType === undefined
        ? {}
        : { [mediaType]: mediaType === 'image/*' ? {} : { schema: { type: 'string' } } }),
    };
    return Object.keys(content).length === 0 ? {} : { content };
  }

  #failuresOf({ failures }: Operation): JsonSchema {
    return Object.fromEntries(
      failures.map((failure) => {
        this.#failures.set(failure.name, this.#answer(failure.description, failure));
        return [failure.status, { $ref: `#/components/responses/${failure.name}` }];
      }),
    );
  }

  #answer(description: string, answer: Answer): JsonSchema {
    return { description, headers: headerReferences(answer.headers), ...this.#contentOf(answer) };
  }

  #responses(): JsonSchema {
    return Object.fromEntries([...this.#failures].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

interface ObjectSchema {
  type?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
}

// Operations that share a schema share its name, which is that of the first.
function* announced(operations: readonly Operation[]): Generator<{ name: string; schema: v.GenericSchema }> {
  for (const { id, query, body, success, failures } of operations) {
    const name = id.charAt(0).toUpperCase() + id.slice(1);
    if (query) yield { name: `${name}Query`, schema: query };
    if (body && 'schema' in body) yield { name: `${name}Request`, schema: body.schema };
    if (success.schema) yield { name: `${name}Result`, schema: success.schema };
    const own = new Set(failures.map(({ schema }) => schema));
    for (const schema of own) if (schema) yield { name: `${name}Failure`, schema };
  }
}

function headerReferences(names: readonly string[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
