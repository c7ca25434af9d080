import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/http/openapi.ts';
import type { Route } from '../../src/http/route.ts';
import { routes } from '../../src/main/api/routes.ts';

/** What a client of the API reference would be told about one kind of answer. */
interface Described {
  description: string;
  content?: Record<string, { schema?: AnySchemaObject }>;
}

interface Document {
  components: { schemas: Record<string, AnySchemaObject>; responses: Record<string, Described> };
  paths: Record<string, Record<string, { responses: Record<string, Described & { $ref?: string }> }>>;
}

interface ProbedAnswer {
  status: number;
  contentType: string | null;
  body: unknown;
}

interface Operation {
  name: string;
  pattern: RegExp;
  responses: Record<string, Described>;
}

const root = 'https://fernpost.test/openapi.json';
let prepared: { ajv: Ajv2020; operations: Operation[] } | null = null;
const validators = new WeakMap<AnySchemaObject, ValidateFunction>();

/**
 * Compares an answer with what the OpenAPI document says of its route: the status, the media type, and the body by its schema.
 * Requests that belong to no route of the list are not compared.
 * @throws when the answer differs from its description
 */
export function checkReply(method: string, path: string, answer: ProbedAnswer): void {
  prepared ??= prepare();
  const [pathname = ''] = path.split('?');
  const operation = prepared.operations.find(
    ({ name, pattern }) => name.startsWith(`${method} `) && pattern.test(pathname),
  );
  if (operation === undefined) return;
  const problem = problemOf(prepared.ajv, operation, answer);
  if (problem !== null)
    throw new Error(
      `${operation.name} answered ${answer.status} otherwise than its route describes it: ${problem}\n${JSON.stringify(answer.body)?.slice(0, 2_000)}`,
    );
}

function problemOf(ajv: Ajv2020, { responses }: Operation, { status, contentType, body }: ProbedAnswer): string | null {
  const described = responses[status] ?? (status >= 300 ? responses.default : undefined);
  if (described === undefined) return `only ${Object.keys(responses).join(', ')} are described`;
  // Redirects carry no body that anybody reads.
  if (status >= 300 && status < 400) return null;
  const type = contentType?.split(';')[0]?.trim() ?? null;
  if (described.content === undefined) return body === '' ? null : 'a body where none is described';
  const [family = ''] = type?.split('/') ?? [];
  const form = described.content[type ?? ''] ?? described.content[`${family}/*`];
  if (form === undefined) return `${type} where ${Object.keys(described.content).join(', ')} is described`;
  const { schema } = form;
  if (type !== 'application/json' || schema === undefined) return null;
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(schema);
    validators.set(schema, validate);
  }
  return validate(body) ? null : ajv.errorsText(validate.errors, { dataVar: 'body' });
}

function prepare(): { ajv: Ajv2020; operations: Operation[] } {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false });
  const document = openApiDocument(routes, root) as unknown as Document;
  for (const [name, schema] of Object.entries(document.components.schemas))
    ajv.addSchema(schema, `#/components/schemas/${name}`);
  return { ajv, operations: literalFirst(routes).map((route) => operationOf(route, document)) };
}

function operationOf({ method, path }: Route, { components, paths }: Document): Operation {
  const described = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]?.responses ?? {};
  const responses = Object.fromEntries(
    Object.entries(described).map(([status, one]) => {
      const shared = components.responses[one.$ref?.slice('#/components/responses/'.length) ?? ''];
      return [status, shared ?? one];
    }),
  );
  const escaped = path.replaceAll(/[.+*?^$()|[\]\\]/g, '\\$&');
  return {
    name: `${method} ${path}`,
    pattern: new RegExp(`^${escaped.replaceAll(/:\w+/g, '[^/]+')}$`),
    responses,
  };
}

// As the router does: `/segments/preview` is no id.
function literalFirst(list: readonly Route[]): Route[] {
  const rank = ({ path }: Route) =>
    path
      .split('/')
      .map((part) => (part.startsWith(':') ? '1' : '0'))
      .join('');
  return list.toSorted((a, b) => rank(a).localeCompare(rank(b)));
}
