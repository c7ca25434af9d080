import * as v from 'valibot';
import { nameSchemas } from '../lib/named-schemas.ts';
import { sessionCookie } from '../lib/session-cookie.ts';
import { bodyLimits, sizeText } from './body.ts';
import { ComponentSchemas, fieldDescription, type JsonSchema } from './openapi-schemas.ts';
import { operationIds } from './operation-id.ts';
import type { Route } from './route.ts';
import { tags } from './tags.ts';

const text = v.string();
const FieldProblem = v.object({ field: text, message: text, code: text, received: v.optional(text) });
const ErrorEnvelope = v.object({
  success: v.literal(false),
  error: v.object({
    code: v.pipe(text, v.description('What went wrong, for programs.'), v.examples(['VALIDATION_ERROR'])),
    message: v.pipe(text, v.description('What went wrong, for people.')),
    statusCode: v.pipe(v.number(), v.integer()),
    requestId: v.pipe(
      text,
      v.uuid(),
      v.description('The `X-Request-ID` of the answer; name it when you ask for help.'),
    ),
    details: v.optional(v.record(text, v.unknown())),
    errors: v.optional(v.pipe(v.array(FieldProblem), v.description('Each field that was refused.'))),
    suggestion: v.optional(v.pipe(text, v.description('What to do about it.'))),
  }),
  timestamp: v.pipe(text, v.isoTimestamp()),
});
const BareError = v.strictObject({ error: text });
nameSchemas({ Error: ErrorEnvelope, BareError, FieldProblem });

const errorTexts: Readonly<Record<string, string>> = {
  400: 'The request is malformed.',
  401: 'The key or the session is missing or not valid.',
  402: 'A limit of the project is reached.',
  403: 'The caller is known and may not do this.',
  404: 'There is no such resource in this project.',
  409: 'The state of the resource, or an Idempotency-Key used before, forbids it.',
  412: 'Somebody else was faster: read again and repeat the edit.',
  413: 'The body is too large.',
  422: 'Fields are missing or wrong; `errors` names each.',
  429: 'Too many requests; repeat after `Retry-After` seconds.',
  502: 'Another service answered something else than it should; repeat later.',
  503: 'Something the request needs is away; repeat after `Retry-After` seconds.',
  default: 'Any other failure; 5xx may be repeated with the same Idempotency-Key.',
};

const headers = {
  'X-Request-ID': {
    description: 'Names the request in logs and in errors.',
    schema: { type: 'string', format: 'uuid' },
  },
  'RateLimit-Limit': { description: 'Requests of one rate window.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests left in the window.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the window ends.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait before the request is repeated.', schema: { type: 'integer' } },
  'Idempotency-Replayed': {
    description: '`true` where this is the answer of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
  ETag: { description: 'Names this revision; an edit sends it as `If-Match`.', schema: { type: 'string' } },
} as const;
type HeaderName = keyof typeof headers;

const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Refuses a second request with the same key within 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IdempotencyMode: {
    name: 'Idempotency-Mode',
    in: 'header',
    required: false,
    description:
      '`replay`: a repetition with the same body gets the first answer again, up to 64 kB, in place of 409 `IDEMPOTENCY_KEY_REUSED`. Send it with the first request too.',
    schema: { type: 'string', enum: ['replay'] },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` that you have seen: the edit is refused with 412 when somebody else was faster.',
    schema: { type: 'string' },
  },
  ProjectId: {
    name: 'X-Project-Id',
    in: 'header',
    required: false,
    description: 'The project, for sessions. Keys name their own.',
    schema: { type: 'string', format: 'uuid' },
  },
} as const;

const description = `Email delivery and audience service whose long-running work is durable.

Requests carry \`Authorization: Bearer sk_…\`, the secret key of a project. Errors come in one envelope (\`Error\`); some older
routes answer 400 and 404 with \`{ "error": "…" }\`.

**Pages.** Lists that answer a \`cursor\` are read page by page: pass it unchanged, with the same filters, until \`hasMore\` is false or the
cursor is null. Lists that answer \`totalPages\` take \`page\`, from 1. \`limit\` or \`pageSize\` says how long a page is.

**Repetitions.** Send an \`Idempotency-Key\` with every request that sends mail, and a request that is repeated sends it once.

**Limits.** A project has a number of requests a minute (\`RateLimit-*\` headers); beyond it the answer is 429 with \`Retry-After\`.`;

/** The OpenAPI 3.1 document of the routes, made from the schemas that validate the requests. */
export function openApiDocument(routes: readonly Route[], serverUrl: string): JsonSchema {
  return new DocumentWriter(routes).write(serverUrl);
}

class DocumentWriter {
  readonly #routes: readonly Route[];
  readonly #ids: Map<unknown, string>;
  readonly #schemas: ComponentSchemas;
  /** The errors that operations refer to. */
  readonly #sharedErrors = new Set<string>();

  constructor(routes: readonly Route[]) {
    this.#routes = routes;
    this.#ids = operationIds(routes);
    this.#schemas = new ComponentSchemas(this.#announced());
  }

  write(serverUrl: string): JsonSchema {
    const paths: Record<string, JsonSchema> = {};
    for (const route of this.#routes) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
      paths[path] ??= {};
      (paths[path] as JsonSchema)[route.method.toLowerCase()] = this.#operation(route);
    }
    const inUse = new Set(this.#routes.map(tagKey));
    return {
      openapi: '3.1.0',
      info: {
        title: 'Posthorn',
        version: '1',
        description,
        contact: { name: 'Posthorn docs', url: `${serverUrl}/docs` },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: serverUrl }],
      tags: Object.keys(tags).flatMap((key) => (inUse.has(key) ? [tags[key]] : [])),
      paths,
      components: {
        schemas: this.#schemas.components(),
        headers,
        parameters,
        responses: Object.fromEntries(
          [...this.#sharedErrors].sort().map((code) => [responseName(code), this.#errorResponse(code)]),
        ),
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

  // Twins of the dashboard share the schemas of their /v1 route, and with them the names.
  *#announced(): Generator<{ name: string; schema: v.GenericSchema }> {
    yield { name: 'Error', schema: ErrorEnvelope };
    yield { name: 'BareError', schema: BareError };
    for (const route of this.#routes) {
      const id = this.#idOf(route);
      const name = id.charAt(0).toUpperCase() + id.slice(1);
      if (route.query) yield { name: `${name}Query`, schema: route.query };
      if (route.body) yield { name: `${name}Request`, schema: route.body };
      if (route.reply) yield { name: `${name}Response`, schema: route.reply };
      if (route.errorReply) yield { name: `${name}Failure`, schema: route.errorReply };
    }
  }

  #idOf(route: Route): string {
    return this.#ids.get(route) ?? '';
  }

  #operation(route: Route): JsonSchema {
    const body = this.#requestBody(route);
    return {
      summary: route.summary,
      description: descriptionOf(route),
      tags: [tags[tagKey(route)]?.name ?? tagKey(route)],
      operationId: this.#idOf(route),
      security: securityOf(route),
      parameters: this.#parametersOf(route),
      ...(body === undefined ? {} : { requestBody: body }),
      responses: { ...this.#successes(route), ...this.#failures(route) },
    };
  }

  #successes(route: Route): JsonSchema {
    const named = headerRefs(route, [
      ...(hasRevision(route) ? (['ETag'] as const) : []),
      ...(route.idempotent ? (['Idempotency-Replayed'] as const) : []),
    ]);
    const answer = { description: successText(route), headers: named, ...this.#contentOf(route) };
    const codes = [route.status ?? 200, ...(route.alsoStatus === undefined ? [] : [route.alsoStatus])];
    return Object.fromEntries(codes.map((code) => [String(code), answer]));
  }

  #failures(route: Route): JsonSchema {
    const codes = errorCodesOf(route);
    return Object.fromEntries(
      codes.map((code) => {
        const isPage = route.textReply === 'text/html' && route.access === 'none';
        if (route.errorReply !== undefined || isPage) return [code, this.#errorResponse(code, route)];
        this.#sharedErrors.add(code);
        return [code, { $ref: `#/components/responses/${responseName(code)}` }];
      }),
    );
  }

  // Some routes answer 400, 403 and 404 with a bare text, and pages for browsers fail as pages (contract page 1, 1.3).
  #errorResponse(code: string, { textReply, errorReply }: Partial<Route> = {}): JsonSchema {
    const forms = [this.#schemas.of(ErrorEnvelope, 'output')];
    if (['400', '403', '404', 'default'].includes(code)) forms.push(this.#schemas.of(BareError, 'output'));
    if (errorReply !== undefined) forms.push(this.#schemas.of(errorReply, 'output'));
    const named: HeaderName[] = [
      'X-Request-ID',
      ...(code === '429' || code === '503' ? (['Retry-After'] as const) : []),
    ];
    return {
      description: errorTexts[code] ?? `Error ${code}`,
      headers: refsTo(named),
      content: {
        'application/json': { schema: forms.length > 1 ? { anyOf: forms } : forms[0] },
        ...(textReply === 'text/html' ? { 'text/html': { schema: { type: 'string' } } } : {}),
      },
    };
  }

  #contentOf({ reply, textReply }: Route): { content?: JsonSchema } {
    const content: JsonSchema = {
      ...(reply === undefined ? {} : { 'application/json': { schema: this.#schemas.of(reply, 'output') } }),
      // Bytes have no schema in OpenAPI 3.1.
      ...(textReply === undefined
        ? {}
        : { [textReply]: textReply === 'image/*' ? {} : { schema: { type: 'string' } } }),
    };
    return Object.keys(content).length === 0 ? {} : { content };
  }

  #requestBody(route: Route): JsonSchema | undefined {
    const { body, bodyKind, bodyForm, bodyLimit = 'form', example } = route;
    if (bodyForm !== undefined)
      return { required: true, content: { [bodyForm.type]: { schema: objectOf(bodyForm.fields) } } };
    if (body === undefined || bodyKind !== undefined) return undefined;
    const whole = this.#schemas.whole(body, 'input');
    // No body is read as an empty object.
    const required = whole.type !== 'object' || (whole.required as string[] | undefined) !== undefined;
    return {
      description: `At most ${sizeText(bodyLimits[bodyLimit].bytes)}.`,
      required,
      content: {
        'application/json': {
          schema: this.#schemas.of(body, 'input'),
          ...(example === undefined ? {} : { example }),
        },
      },
    };
  }

  #parametersOf(route: Route): JsonSchema[] {
    const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      description: pathDescription(route, name),
      schema: { type: 'string', ...(route.ids?.[name] ? { format: 'uuid' } : {}) },
    }));
    const schema = route.query ? this.#schemas.whole(route.query, 'input') : {};
    const needed = (schema.required ?? []) as string[];
    const inQuery = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([name, property]) => {
      const { description, ...rest } = property;
      return {
        name,
        in: 'query',
        required: needed.includes(name),
        ...(description === undefined ? {} : { description }),
        schema: rest,
      };
    });
    const shared: (keyof typeof parameters)[] = [];
    if (route.idempotent) shared.push('IdempotencyKey', 'IdempotencyMode');
    if (isGuardedEdit(route)) shared.push('IfMatch');
    // Named once for sessions; with a key the header is ignored.
    if (route.access === 'dashboard') shared.push('ProjectId');
    return [...inPath, ...inQuery, ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
  }
}

// `/campaigns/:id/send`: what stands before a parameter says of what it is.
function pathDescription({ path, ids }: Route, name: string): string | undefined {
  if (name !== 'id') return fieldDescription(name, 'Path');
  const kind = ids?.id;
  if (kind !== undefined && kind !== '422') return `ID of the ${kind}.`;
  const [, owner = ''] = /([\w-]+)\/:id\b/.exec(path) ?? [];
  const isRecipientPage = /^(unsubscribe|subscribe|manage)$/.test(owner);
  return `ID of the ${isRecipientPage ? 'contact' : owner.replaceAll('-', ' ').replace(/s$/, '')}.`;
}

function tagKey(route: Route): string {
  return route.tag ?? route.path.split('/').find((segment) => segment !== '' && segment !== 'v1') ?? 'service';
}

function isGuardedEdit({ guarded, method }: Route): boolean {
  return guarded === true && method !== 'GET';
}

// What is deleted has none.
function hasRevision({ guarded, method }: Route): boolean {
  return guarded === true && method !== 'DELETE';
}

function errorCodesOf(route: Route): string[] {
  const own = (route.refusals ?? []).map(String);
  if (route.access === 'none') return inOrder([...openErrorCodes(route), ...own]);
  const codes = ['400', '401', '403', '422', '429', ...own];
  if (route.path.includes(':')) codes.push('404');
  if (route.idempotent) codes.push('409');
  if (isGuardedEdit(route)) codes.push('412');
  if (route.body !== undefined || route.bodyKind !== undefined) codes.push('413');
  return inOrder(codes);
}

function inOrder(codes: readonly string[]): string[] {
  return [...[...new Set(codes)].sort(), 'default'];
}

// What needs no key refuses a path, a query or a body, and too many requests.
function openErrorCodes({ path, query, body, bodyKind, bodyForm }: Route): string[] {
  const hasBody = body !== undefined || bodyKind !== undefined || bodyForm !== undefined;
  const codes = hasBody ? ['400', '413'] : [];
  if (path.includes(':')) codes.push('404');
  if (hasBody || query !== undefined) codes.push('422');
  return codes.length === 0 ? codes : [...codes, '429'];
}

function responseName(code: string): string {
  return code === 'default' ? 'Failure' : `Error${code}`;
}

function successText({ status = 200, method, reply, textReply }: Route): string {
  if (status === 204) return 'Done; the answer has no body.';
  if (status >= 300) return 'Go on at `Location`.';
  if (status === 201) return 'Created.';
  if (status === 202) return 'Accepted; the work goes on in the background.';
  return method === 'GET' && (reply ?? textReply) !== undefined ? 'What was asked for.' : 'Done.';
}

function headerRefs({ access, exemptFromRateLimit }: Route, more: HeaderName[]): JsonSchema {
  const isCounted = access !== 'none' && access !== 'cookie' && !exemptFromRateLimit;
  const counted = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;
  return refsTo(['X-Request-ID', ...(isCounted ? counted : []), ...more]);
}

function refsTo(names: readonly HeaderName[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function objectOf(fields: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const described = Object.entries(fields).map(([name, field]) => [
    name,
    { description: fieldDescription(name, 'Form'), ...field },
  ]);
  return { type: 'object', properties: Object.fromEntries(described), required: Object.keys(fields) };
}

function securityOf({ access, refusesKeys }: Route): JsonSchema[] {
  if (access === 'none') return [];
  if (access === 'public') return [{ publicKey: [] }];
  if (access === 'secret') return [{ secretKey: [] }];
  return access === 'cookie' || refusesKeys ? [{ session: [] }] : [{ secretKey: [] }, { session: [] }];
}

const callers = {
  none: 'Needs no key.',
  public: 'Needs the public key.',
  secret: 'Needs the secret key.',
  dashboard: 'Needs the secret key, or a session with `X-Project-Id`.',
  project: 'Needs the secret key of the project, or the session of a member.',
  account: 'Needs the secret key, or a session.',
  cookie: 'Needs a session.',
} as const;

// Who may call, in a sentence: OpenAPI has no place for roles.
function descriptionOf({ description, access, role, refusesKeys, scope }: Route): string {
  const ofMembers = access === 'dashboard' || access === 'project';
  const needs = refusesKeys ? 'Needs a session. Keys are refused.' : callers[access];
  const rule = ofMembers && role !== undefined && role !== 'MEMBER' ? `Sessions need the role ${role}.` : '';
  const needed = scope === undefined || scope === 'any' ? '' : `Keys with scopes need \`${scope}\`.`;
  return [description, needs, rule, needed].filter(Boolean).join(' ');
}
