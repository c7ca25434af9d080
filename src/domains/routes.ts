import * as v from 'valibot';
import type { Handled } from '../http/context.ts';
import { route } from '../http/route.ts';
import { field } from '../lib/validation/fields.ts';
import { projectOfDomain } from './queries.ts';
import { CreateDomain, DmarcCheck, DomainBody, DomainCheck } from './schema.ts';
import { checkDmarc, checkDomain, createDomain, type DomainDeps, deleteDomain, listDomains } from './service.ts';

/** The sender domains of a project. */
export const domainRoutes = [
  route.get('/domains/project/:projectId', {
    access: 'dashboard',
    summary: 'List the domains of a project',
    operationId: 'listDomains',
    ids: { projectId: '422' },
    findProject: ({ params }) => params.projectId,
    returns: 'The domains of the project, newest first, each with its DNS records.',
    reply: v.array(DomainBody),
    handle: ({ db, project, params }) => listDomains(db, project, params.projectId),
  }),
  route.post('/domains', {
    bareRefusals: [400, 403],
    refusals: [503],
    access: 'dashboard',
    role: 'ADMIN',
    findProject: async ({ body }) => projectNamedIn(await body()),
    summary: 'Add a sender domain and get the DNS records to set',
    operationId: 'addDomain',
    status: 201,
    body: CreateDomain,
    example: { domain: 'acme.com' },
    returns: 'The new domain; set its `records` in your DNS, then check them with `GET /domains/{id}/verify`.',
    reply: DomainBody,
    handle: (input) => createDomain(deps(input), input.project, input.body),
  }),
  route.get('/domains/:id/verify', {
    access: 'dashboard',
    findProject: ({ app, params, userId }) => projectOfDomain(app.db, params.id, userId),
    summary: 'Check the DNS records of a domain now',
    operationId: 'checkDomain',
    ids: { id: '422' },
    returns: 'The domain, with what the latest check found for each of its `records`.',
    reply: DomainCheck,
    handle: (input) => checkDomain(deps(input), input.project.id, input.params.id),
  }),
  route.get('/domains/:id/dmarc', {
    access: 'dashboard',
    findProject: ({ app, params, userId }) => projectOfDomain(app.db, params.id, userId),
    summary: 'Check the DMARC record of a domain now',
    operationId: 'checkDmarc',
    ids: { id: '422' },
    returns: 'The DMARC record that counts for the domain, and what to do about it in `advice`.',
    reply: DmarcCheck,
    handle: ({ app, db, project, params }) => checkDmarc(db, app.dns, project.id, params.id),
  }),
  route.delete('/domains/:id', {
    refusals: [409],
    access: 'dashboard',
    role: 'ADMIN',
    findProject: ({ app, params, userId }) => projectOfDomain(app.db, params.id, userId),
    summary: 'Remove a sender domain',
    ids: { id: '422' },
    returns: 'The domain is removed; `success` is true.',
    reply: v.object({ success: field('Always true.', v.literal(true)) }),
    async handle(input) {
      await deleteDomain(deps(input), input.project.id, input.params.id);
      return { success: true };
    },
  }),
];

// Older dashboards send no X-Project-Id here (docs/contract/platform.md#3-3): the project is the one that the request names.
function projectNamedIn(body: unknown): string | null {
  const named = (body as { projectId?: unknown } | null)?.projectId;
  return typeof named === 'string' ? named : null;
}

function deps({ app, db, log, actor }: Handled<unknown, unknown, 'dashboard'>): DomainDeps {
  return {
    db,
    provider: app.domainProvider,
    dns: app.dns,
    tell: app.tellMembers,
    dispatchSoon: (...tickets) => app.outbox.dispatchSoon(...tickets),
    userId: actor.kind === 'user' ? actor.userId : null,
    encryptionKey: app.config.APP_ENCRYPTION_KEY,
    holdsPublicDomains: app.config.holdsPublicDomains,
    log,
    now: app.clock(),
  };
}
