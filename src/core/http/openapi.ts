import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { sessionCookie } from '../lib/session-cookie.ts';
import { bodyLimits, sizeText } from './body.ts';
import type { Route } from './route.ts';

type Json = Record<string, unknown>;

const text = v.string();
const ErrorEnvelope = v.object({
  success: v.literal(false),
  error: v.object({
    code: text,
    message: text,
    statusCode: v.pipe(v.number(), v.integer()),
    requestId: v.pipe(text, v.uuid()),
    details: v.optional(v.record(text, v.unknown())),
    errors: v.optional(v.array(v.object({ field: text, message: text, code: text, received: v.optional(text) }))),
    suggestion: v.optional(text),
  }),
  timestamp: v.pipe(text, v.isoTimestamp()),
});
const BareError = v.strictObject({ error: text });

/** The OpenAPI 3.1 document of the routes, made from the schemas that validate the requests. */
export function openApiDocument(routes: readonly Route[], serverUrl: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    (paths[path] as Json)[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn',
      version: '1',
      description: 'Email delivery and audience service whose long-running work is durable.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    paths,
    components: {
      schemas: { Error: jsonSchema(ErrorEnvelope, 'output'), BareError: jsonSchema(BareError, 'output') },
      securitySchemes: {
        secretKey: { type: 'http', scheme: 'bearer', description: 'Secret key of a project, `sk_…`' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookie,
          description: 'Session of a signed-in user, set by `POST /auth/login`',
        },
        publicKey: { type: 'http', scheme: 'bearer', description: 'Public key of a project, `pk_…`' },
      },
    },
  };
}

function operation(route: Route): Json {
  const status = String(route.status ?? 200);
  const description = descriptionOf(route);
  const errors =
    route.access === 'none'
      ? ['default']
      : ['400', '401', ...(isGuardedEdit(route) ? ['412'] : []), '422', '429', 'default'];
  return {
    summary: route.summary,
    ...(description ? { description } : {}),
    tags: [route.tag ?? route.path.split('/').find((segment) => segment !== '' && segment !== 'v1') ?? 'service'],
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[/:.-]+(\w)/g, (_, letter: string) => letter.toUpperCase()).replaceAll(/\W/g, '')}`,
    security: securityOf(route),
    parameters: parametersOf(route),
    ...(route.body && route.bodyKind === undefined
      ? { requestBody: { description: sizeOf(route), ...bodyOf(jsonSchema(route.body, 'input')) } }
      : {}),
    responses: {
      ...Object.fromEntries(
        [status, ...(route.alsoStatus === undefined ? [] : [route.alsoStatus])].map((code) => [
          code,
          { description: 'Success', ...tagOf(route), ...contentOf(route) },
        ]),
      ),
      ...Object.fromEntries(
        errors.map((code) => [
          code,
          {
            description: code === 'default' ? 'Any other failure' : `Error ${code}`,
            content: errorContent(code, route),
          },
        ]),
      ),
    },
  };
}

function isGuardedEdit({ guarded, method }: Route): boolean {
  return guarded === true && method !== 'GET';
}

// What is deleted has none.
function tagOf({ guarded, method }: Route): { headers?: Json } {
  if (!guarded || method === 'DELETE') return {};
  const description = 'Names this revision; an edit sends it as `If-Match`.';
  return { headers: { ETag: { description, schema: { type: 'string' } } } };
}

function sizeOf({ bodyLimit = 'form' }: Route): string {
  return `At most ${sizeText(bodyLimits[bodyLimit].bytes)}.`;
}

// Some routes answer 400 and 404 with a bare text, and pages for browsers fail as pages (contract page 1, 1.3).
function errorContent(code: string, { textReply, errorReply }: Route): Json {
  const forms: Json[] = [{ $ref: '#/components/schemas/Error' }];
  if (code === '400' || code === 'default') forms.push({ $ref: '#/components/schemas/BareError' });
  if (errorReply !== undefined) forms.push(jsonSchema(errorReply, 'output'));
  return {
    'application/json': { schema: forms.length > 1 ? { anyOf: forms } : forms[0] },
    ...(textReply === 'text/html' && code === 'default' ? { 'text/html': { schema: { type: 'string' } } } : {}),
  };
}

function contentOf({ reply, textReply }: Route): { content?: Json } {
  const content: Json = {
    ...(reply === undefined ? {} : { 'application/json': { schema: jsonSchema(reply, 'output') } }),
    // Bytes have no schema in OpenAPI 3.1.
    ...(textReply === undefined ? {} : { [textReply]: textReply === 'image/*' ? {} : { schema: { type: 'string' } } }),
  };
  return Object.keys(content).length === 0 ? {} : { content };
}

// No body is read as an empty object.
function bodyOf(schema: Json): Json {
  const needed = schema.type !== 'object' || (schema.required as string[] | undefined)?.length !== 0;
  return { required: needed, content: { 'application/json': { schema } } };
}

function securityOf({ access, refusesKeys }: Route): Json[] {
  if (access === 'none') return [];
  if (access === 'public') return [{ publicKey: [] }];
  if (access === 'secret') return [{ secretKey: [] }];
  return access === 'cookie' || refusesKeys ? [{ session: [] }] : [{ secretKey: [] }, { session: [] }];
}

// Who may call, in a sentence: OpenAPI has no place for roles.
function descriptionOf({ description, access, role, refusesKeys, scope }: Route): string | undefined {
  const ofMembers = access === 'dashboard' || access === 'project';
  const rule =
    ofMembers && role === 'ADMIN' ? `Sessions need the role ADMIN.${refusesKeys ? ' Keys are refused.' : ''}` : '';
  const needed = scope === undefined ? '' : `Keys with scopes need \`${scope}\`.`;
  return [description, rule, needed].filter(Boolean).join(' ') || undefined;
}

function parametersOf(route: Route): Json[] {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', ...(route.ids?.[name] ? { format: 'uuid' } : {}) },
  }));
  const schema = route.query ? (jsonSchema(route.query, 'input') as { properties?: Json; required?: string[] }) : {};
  const inQuery = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property as Json;
    return {
      name,
      in: 'query',
      required: schema.required?.includes(name) ?? false,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
  const header = (name: string, description: string, schema: Json) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', ...schema },
  });
  const headers: Json[] = [];
  const onlyOnce = 'Refuses a second request with the same key within 24 hours.';
  if (route.idempotent) headers.push(header('Idempotency-Key', onlyOnce, { minLength: 1, maxLength: 255 }));
  const seen = 'The `ETag` that you have seen: the edit is refused with 412 when somebody else was faster.';
  if (isGuardedEdit(route)) headers.push(header('If-Match', seen, {}));
  // Named once for sessions; with a key the header is ignored.
  const ofSession = 'The project, for sessions. Keys name their own.';
  if (route.access === 'dashboard') headers.push(header('X-Project-Id', ofSession, { format: 'uuid' }));
  return [...inPath, ...inQuery, ...headers];
}

function jsonSchema(schema: v.GenericSchema, typeMode: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode,
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema, jsonSchema: made }) => {
      // A custom check has no JSON Schema of its own; the objects among ours say what they are.
      if (valibotSchema.type === 'custom') return { ...made, type: 'object' };
      return undefined;
    },
  }) as Json;
  return rest;
}
