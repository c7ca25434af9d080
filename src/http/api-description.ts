import { sessionCookie as cookieName } from '../lib/enums.ts';
import { AnyError, ErrorEnvelope } from './error-schemas.ts';
import type { ApiDescription, Failure, Status } from './openapi/operation.ts';

/** The groups of the API reference in its order: the tag of a route, or the first segment of its path, with title and text. */
export const tags: Readonly<Record<string, { name: string; description: string }>> = {
  emails: { name: 'Emails', description: 'Send email to named recipients, and look up what happened to each.' },
  events: {
    name: 'Events',
    description: 'Record what contacts do. Events trigger workflows and move contacts between segments.',
  },
  contacts: { name: 'Contacts', description: 'The people in your project: address, subscription and free-form data.' },
  segments: { name: 'Segments', description: 'Groups of contacts: dynamic, by conditions, or static.' },
  templates: { name: 'Templates', description: 'Reusable content with variables, written as blocks or as HTML.' },
  brand: { name: 'Brand', description: 'Logo, colors and footer that every template follows.' },
  'saved blocks': { name: 'Saved blocks', description: 'Blocks to insert into emails again.' },
  uploads: { name: 'Images', description: 'Images for email.' },
  campaigns: {
    name: 'Campaigns',
    description: 'Email to an audience: draft, schedule and send it, and account for every recipient.',
  },
  workflows: {
    name: 'Workflows',
    description: 'Automations: a graph of steps that contacts go through, started by events or schedules.',
  },
  simulations: {
    name: 'Simulations',
    description: 'What a graph of a workflow would have done to contacts of the past.',
  },
  suppressions: {
    name: 'Suppressions',
    description: 'Rules that keep email from being sent to matching addresses, and the emails they suppressed.',
  },
  domains: { name: 'Domains', description: 'Sender domains and their DNS records.' },
  verification: { name: 'Verification', description: 'Check an address before you use it.' },
  activity: { name: 'Activity', description: 'Recent and upcoming activity in a project.' },
  explain: { name: 'Explain', description: 'Why a contact received something, or did not.' },
  analytics: { name: 'Analytics', description: 'Counts and rates over time.' },
  'webhook endpoints': {
    name: 'Webhook endpoints',
    description: 'Signed webhooks to your systems (Standard Webhooks), with replay, log and audit.',
  },
  MCP: { name: 'Language models', description: 'Tools for language models (Model Context Protocol), and their plans.' },
  projects: { name: 'Projects', description: 'Projects, their keys and their state.' },
  members: { name: 'Members', description: 'The team of a project.' },
  'API keys': {
    name: 'API keys',
    description: 'Keys of apps with scopes, overlap at rotation, and limits on senders and recipients.',
  },
  'audit log': { name: 'Audit log', description: 'Who changed what in a project.' },
  billing: { name: 'Billing', description: 'Limits, usage and invoices.' },
  auth: { name: 'Authentication', description: 'Accounts and sessions of the dashboard.' },
  users: { name: 'Users', description: 'The signed-in user.' },
  recipients: {
    name: 'Recipient pages',
    description: 'Where recipients subscribe and unsubscribe, by the links in their email.',
  },
  webhooks: {
    name: 'Incoming webhooks',
    description: 'Where email providers and the payment processor report to the service.',
  },
  privacy: {
    name: 'Privacy',
    description: 'Everything known about a contact, and its erasure with a signed certificate.',
  },
  service: { name: 'Service', description: 'Health, metrics and this description.' },
};

const failureTexts: Readonly<Record<Status, string>> = {
  400: 'The request is malformed.',
  401: 'The key or the session is missing or not valid.',
  402: 'A limit of the project is reached.',
  403: 'The caller is known and may not do this.',
  404: 'There is no such resource in this project.',
  409: 'The state of the resource, or an Idempotency-Key used before, forbids it.',
  412: 'Someone else edited it first: read it again and repeat the edit.',
  413: 'The body is too large.',
  422: 'Fields are missing or wrong; `errors` names each.',
  429: 'Too many requests; repeat after `Retry-After` seconds.',
  502: 'Another service gave an unexpected answer; repeat later.',
  503: 'Something the request needs is unavailable; repeat after `Retry-After` seconds.',
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
  'X-Ignored-Fields': {
    description:
      'Fields of the body and query parameters that were ignored, with the name to use where one is known: `first_name;use=data.firstName, limit;in=query`. At most 20; absent when nothing was ignored.',
    schema: { type: 'string' },
  },
  ETag: { description: 'Names this revision; an edit sends it as `If-Match`.', schema: { type: 'string' } },
} as const;
export type HeaderName = keyof typeof headers;

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
      '`replay`: a repeated request with the same body gets the first answer again, up to 64 kB, in place of 409 `IDEMPOTENCY_KEY_REUSED`. Send it with the first request too.',
    schema: { type: 'string', enum: ['replay'] },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` that you have seen: the edit is refused with 412 if someone else edited it first.',
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
export type ParameterName = keyof typeof parameters;

const securitySchemes = {
  secretKey: { type: 'http', scheme: 'bearer', description: 'Secret key of a project, `sk_…`' },
  sessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: cookieName,
    description: 'Session of a signed-in user, set by `POST /auth/login`',
  },
  publicKey: { type: 'http', scheme: 'bearer', description: 'Public key of a project, `pk_…`' },
} as const;
export type SecurityScheme = keyof typeof securitySchemes;

const description = `Email delivery and audience service whose long-running work is durable.

Requests carry \`Authorization: Bearer sk_…\`, the secret key of a project. Errors come in one envelope (\`Error\`); where
\`AnyError\` is described, the body may be \`{ "error": "…" }\` alone.

**Pages.** Lists that answer a \`cursor\` are read page by page: pass it unchanged, with the same filters, until \`hasMore\` is false or the
cursor is null. Lists that answer \`totalPages\` take \`page\`, from 1. \`limit\` or \`pageSize\` says how long a page is.

**Repetitions.** Send an \`Idempotency-Key\` with every request that sends mail, and a request that is repeated sends it once.

**Clients.** [Downloads](/downloads/) has the SDK for TypeScript, the client for Python and the command line in the version of this server.

**Limits.** A project has a number of requests a minute (\`RateLimit-*\` headers); beyond it the answer is 429 with \`Retry-After\`.`;

/** Returns the parts of the API reference about the API as a whole. */
export function apiDescription(server: string): ApiDescription {
  return {
    info: {
      title: 'Fernpost',
      version: '1',
      description,
      contact: { name: 'Fernpost docs', url: `${server}/docs` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    server,
    tags: Object.values(tags),
    headers,
    parameters,
    securitySchemes,
  };
}

/** A failure of any operation; `mayBeText` where the error may be a bare text (docs/contract/core.md#1-3). */
export function failureOf(status: Status, mayBeText = false): Failure {
  const isTemporary = status === 429 || status === 503;
  const kind = status === 'default' ? 'Failure' : `Error${status}`;
  const about = failureTexts[status] ?? `Error ${status}.`;
  return {
    status,
    name: mayBeText ? `Any${kind}` : kind,
    description: mayBeText ? `${about} In some cases \`error\` is only a sentence.` : about,
    headers: isTemporary ? ['X-Request-ID', 'Retry-After'] : ['X-Request-ID'],
    schema: mayBeText ? AnyError : ErrorEnvelope,
  };
}
