import type { Scope } from '../../src/lib/enums.ts';

/** Who calls, as the table of access knows them. The project in question is always the same one. */
export const callers = [
  'no key',
  'public key',
  'secret key',
  "another project's key",
  'OWNER',
  'ADMIN',
  'MEMBER',
  'stranger',
  'ADMIN without X-Project-Id',
] as const;
export type Caller = (typeof callers)[number];

/** Let in, or refused with this status and code. */
export type Verdict = 'in' | readonly [status: number, code: string];

const missing = [401, 'MISSING_AUTH'] as const;
const wrongKey = [401, 'INVALID_API_KEY'] as const;
const unknown = [401, 'UNAUTHORIZED'] as const;
const forbidden = [403, 'FORBIDDEN'] as const;
const denied = [403, 'PROJECT_ACCESS_DENIED'] as const;
const noProject = [404, 'RESOURCE_NOT_FOUND'] as const;
const unnamed = [400, 'BAD_REQUEST'] as const;

function row(...verdicts: readonly Verdict[]): Record<Caller, Verdict> {
  return Object.fromEntries(callers.map((caller, place) => [caller, verdicts[place] ?? 'in'])) as Record<
    Caller,
    Verdict
  >;
}

/** The rules of the interface (docs/contract/core.md#1-5, docs/contract/platform.md#1-2), in the order of `callers`. */
export const rules = {
  /** Anybody; what opens something is in the request itself: a password, a token, a signature. */
  open: row('in', 'in', 'in', 'in', 'in', 'in', 'in', 'in', 'in'),
  /** Needs the token of the setting METRICS_TOKEN, which is no key of a project. */
  metricsToken: row(missing, wrongKey, wrongKey, wrongKey, missing, missing, missing, missing, missing),
  publicKey: row(missing, 'in', wrongKey, wrongKey, missing, missing, missing, missing, missing),
  secretKey: row(missing, wrongKey, 'in', 'in', missing, missing, missing, missing, missing),
  /** Work in a project: its key, or any member who names it. Another project's key works in its own project. */
  content: row(unknown, wrongKey, 'in', 'in', 'in', 'in', 'in', denied, unnamed),
  contentOfAdmins: row(unknown, wrongKey, 'in', 'in', 'in', 'in', forbidden, denied, unnamed),
  contentOfAdminsInPerson: row(unknown, wrongKey, forbidden, forbidden, 'in', 'in', forbidden, denied, unnamed),
  contentOfOwnersInPerson: row(unknown, wrongKey, forbidden, forbidden, 'in', forbidden, forbidden, denied, unnamed),
  /** The project in the path. */
  project: row(unknown, wrongKey, 'in', denied, 'in', 'in', 'in', noProject, 'in'),
  projectOfAdmins: row(unknown, wrongKey, 'in', denied, 'in', 'in', forbidden, noProject, 'in'),
  projectOfAdminsInPerson: row(unknown, wrongKey, forbidden, denied, 'in', 'in', forbidden, noProject, 'in'),
  /** The project in the path of a request that works in the project of its key. */
  projectNamedTwice: row(unknown, wrongKey, 'in', denied, 'in', 'in', 'in', denied, 'in'),
  person: row(unknown, wrongKey, unknown, unknown, 'in', 'in', 'in', 'in', 'in'),
  personAlone: row(unknown, wrongKey, forbidden, forbidden, 'in', 'in', 'in', 'in', 'in'),
  personOrKey: row(unknown, wrongKey, 'in', 'in', 'in', 'in', 'in', 'in', 'in'),
} as const;
export type Rule = keyof typeof rules;

// One line for each route that is not plain work in a project.
const exact: Record<string, Rule> = {
  'POST /v1/track': 'publicKey',
  'POST /v1/send': 'secretKey',
  'POST /v1/emails/batch': 'secretKey',
  'POST /v1/verify': 'secretKey',
  'POST /mcp': 'secretKey',
  'GET /v1/emails': 'secretKey',
  'GET /v1/emails/:id': 'secretKey',
  'PATCH /v1/emails/:id': 'secretKey',
  'POST /v1/emails/:id/cancel': 'secretKey',
  'POST /v1/emails/:id/release': 'secretKey',
  'POST /v1/emails/:id/resend': 'secretKey',

  'GET /health': 'open',
  'GET /ready': 'open',
  'GET /metrics': 'metricsToken',
  'GET /openapi.json': 'open',
  'GET /config': 'open',

  'GET /contacts/public/:id': 'open',
  'POST /contacts/public/:id/subscribe': 'open',
  'POST /contacts/public/:id/unsubscribe': 'open',
  'GET /unsubscribe/:id': 'open',
  'POST /unsubscribe/:id': 'open',
  'GET /subscribe/:id': 'open',
  'POST /subscribe/:id': 'open',
  'GET /manage/:id': 'open',
  'POST /manage/:id': 'open',
  'GET /uploads/files/:projectId/:file': 'open',
  'GET /brand/icons/:file': 'open',
  'POST /webhooks/postmark': 'open',
  'POST /webhooks/postmark/:token': 'open',
  'POST /webhooks/sns': 'open',
  'POST /webhooks/incoming/:processor': 'open',

  'POST /auth/login': 'open',
  'GET /auth/logout': 'open',
  'GET /auth/oauth-config': 'open',
  'POST /auth/signup': 'open',
  'POST /auth/verify-email': 'open',
  'POST /auth/request-password-reset': 'open',
  'POST /auth/reset-password': 'open',
  'GET /oauth/:provider/outbound': 'open',
  'GET /oauth/:provider/callback': 'open',
  'POST /auth/request-verification': 'person',

  'GET /users/@me': 'person',
  'GET /users/@me/account': 'person',
  'POST /users/@me/password': 'person',
  'GET /users/@me/sessions': 'person',
  'DELETE /users/@me/sessions': 'person',
  'DELETE /users/@me/sessions/:sessionId': 'person',
  'GET /users/@me/projects': 'personOrKey',
  'POST /users/@me/projects': 'personAlone',
  'PATCH /users/@me/projects/:id': 'projectOfAdmins',
  'DELETE /users/@me/projects/:id': 'projectOfAdminsInPerson',
  'POST /users/@me/projects/:id/reset': 'projectOfAdmins',
  'POST /users/@me/projects/:id/regenerate-keys': 'projectOfAdmins',
  'GET /users/@me/projects/:id/api-keys': 'projectOfAdmins',
  'POST /users/@me/projects/:id/api-keys': 'projectOfAdminsInPerson',
  'PATCH /users/@me/projects/:id/api-keys/:keyId': 'projectOfAdminsInPerson',
  'POST /users/@me/projects/:id/api-keys/:keyId/rotate': 'projectOfAdminsInPerson',
  'DELETE /users/@me/projects/:id/api-keys/:keyId': 'projectOfAdminsInPerson',
  'GET /users/@me/projects/:id/security': 'project',
  'POST /users/@me/projects/:id/checkout': 'projectOfAdmins',
  'POST /users/@me/projects/:id/billing-portal': 'projectOfAdmins',
  'GET /users/@me/projects/:id/billing-limits': 'project',
  'PUT /users/@me/projects/:id/billing-limits': 'projectOfAdmins',
  'GET /users/@me/projects/:id/billing-consumption': 'project',
  'GET /users/@me/projects/:id/billing-invoices': 'project',

  'GET /projects': 'personOrKey',
  'GET /projects/:id': 'project',
  'GET /projects/:id/setup-state': 'project',
  'GET /projects/:id/overview': 'project',
  'GET /projects/:id/security': 'project',
  'GET /projects/:id/audit-log': 'projectOfAdmins',
  'GET /projects/:id/audit-log/verify': 'projectOfAdmins',
  'GET /projects/:id/mcp-plans': 'project',
  'GET /projects/:id/smtp-clients': 'project',
  'GET /projects/:id/holdout': 'project',
  'PUT /projects/:id/holdout': 'projectOfAdmins',
  'DELETE /projects/:id/holdout': 'projectOfAdmins',
  'POST /campaigns/:id/approve': 'contentOfAdminsInPerson',
  'POST /projects/:id/mcp-plans/:planId/approve': 'projectOfAdminsInPerson',
  'POST /projects/:id/mcp-plans/:planId/refuse': 'projectOfAdminsInPerson',
  'GET /projects/:id/members': 'project',
  'POST /projects/:id/members': 'projectOfAdminsInPerson',
  'GET /projects/:id/invitations': 'project',
  'POST /projects/:id/invitations': 'projectOfAdminsInPerson',
  'DELETE /projects/:id/invitations/:invitationId': 'projectOfAdminsInPerson',
  'POST /invitations/find': 'open',
  'POST /invitations/accept': 'person',
  'POST /invitations/sign-up': 'open',
  'PATCH /projects/:id/members/:userId': 'projectOfAdminsInPerson',
  'DELETE /projects/:id/members/:userId': 'projectOfAdminsInPerson',

  'GET /domains/project/:projectId': 'projectNamedTwice',
  'POST /contacts/:id/erase': 'contentOfAdmins',
  'POST /erasures/:id/lift': 'contentOfOwnersInPerson',
  'POST /domains': 'contentOfAdmins',
  'GET /domains/:id/verify': 'content',
  'GET /domains/:id/dmarc': 'content',
  'DELETE /domains/:id': 'contentOfAdmins',
};

// All below these is work of those who administer a project.
const administration = /^\/webhook-endpoints(\/|$)/;
// All below these is work in a project. A route that is meant to be otherwise needs a line of its own above.
const work =
  /^\/(contacts|events|templates|campaigns|segments|workflows|suppressions|activity|analytics|deliverability|uploads|brand|blocks|emails|explain|erasures)(\/|$)/;

/** The rule of a route; undefined for one that has none. */
export function ruleOf(method: string, path: string): Rule | undefined {
  return (
    exact[`${method} ${path}`] ??
    (administration.test(path) ? 'contentOfAdmins' : work.test(path) ? 'content' : undefined)
  );
}

/**
 * Writes to the project in the path that a session may not make either while that is disabled (docs/contract/platform.md#1-2).
 */
export const refusedWhenDisabled = new Set(['DELETE /users/@me/projects/:id', 'POST /users/@me/projects/:id/reset']);

const reads = (scope: 'contacts' | 'campaigns' | 'workflows') => (method: string) =>
  `${scope}:${method === 'GET' ? 'read' : 'write'}` as const;

// What a key with scopes needs below a path, the first that fits; all else is closed to such keys.
const scopesBelow: readonly [path: RegExp, scope: Scope | 'any' | ((method: string) => Scope | null)][] = [
  [/^\/mcp$/, 'any'],
  [/^\/v1\/(send|verify|emails\/batch)$/, 'emails:send'],
  [/^\/emails\/export$/, 'emails:read'],
  [
    /^(\/v1|\/suppressions)?\/emails(\/:id(\/(cancel|release|resend))?)?$/,
    (method) => (method === 'GET' ? 'emails:read' : 'emails:send'),
  ],
  [/^\/(v1|events)\/track$/, 'events:write'],
  [/^\/(contacts\/(lookup|search|export|import\/preview)|segments\/preview|analytics\/top-events)$/, 'contacts:read'],
  [/^\/erasures\/:id\/lift$/, () => null],
  [/^\/contacts\/:id\/erase$/, 'contacts:erase'],
  [/^\/(contacts(?!\/public)|segments|events|erasures)(\/|$)/, reads('contacts')],
  [/^\/(templates|blocks|brand(?!\/icons)|uploads(?!\/files))(\/|$)/, 'templates'],
  [/^\/campaigns\/:id\/(send|approval|cancel|pause|resume|resend|revise|test|canary\/continue)$/, 'campaigns:send'],
  [/^\/campaigns\/:id\/approve$/, () => null],
  [/^\/campaigns\/(audience|:id\/(correction|follow-up)\/audience)$/, 'campaigns:read'],
  [/^\/(campaigns|analytics)(\/|$)/, reads('campaigns')],
  [/^\/workflows(\/|$)/, reads('workflows')],
  [/^\/projects\/:id\/audit-log(\/verify)?$/, 'audit'],
  [/^\/webhook-endpoints(\/|$)/, 'webhooks'],
  [/^\/explain(\/|$)/, 'explain'],
];

/** The scope that a key needs for a route; null where no scope opens it, `any` where every one does. */
export function scopeOf(method: string, path: string): Scope | 'any' | null {
  const [, scope = null] = scopesBelow.find(([pattern]) => pattern.test(path)) ?? [];
  return typeof scope === 'function' ? scope(method) : scope;
}
