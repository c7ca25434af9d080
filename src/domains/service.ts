import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { sqlOf } from '../db/sql.ts';
import { AppError, conflict, notFound } from '../lib/errors.ts';
import type { ProjectFacts } from '../projects/directory.ts';
import { Domain } from './entity.ts';
import type { DomainProvider, ProviderDomain } from './provider.ts';
import type { CreateDomain, DnsRecord, DomainBody } from './schema.ts';

const checkPauseMs = 10_000;

/** What the routes of domains need. */
export interface DomainDeps {
  em: EntityManager;
  provider: DomainProvider | null;
  /** True with the sandbox, where domains below `.test` count as verified at once. */
  sandbox: boolean;
  log: Logger;
  now: Date;
}

/** The domains of a project, newest first. @throws 403 for the id of another project */
export async function listDomains(em: EntityManager, project: ProjectFacts, projectId: string): Promise<DomainBody[]> {
  refuseOtherProject(project, projectId);
  const domains = await em.find(
    Domain,
    { projectId: project.id },
    { orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] },
  );
  return domains.map((domain) => domainBody(domain));
}

/**
 * Registers a domain with the provider and answers the DNS records to set (contract page 3, 3.3).
 * @throws bare 400 when the project has it, bare 403 when another one has it, 503 when the provider cannot be asked
 */
export async function createDomain(deps: DomainDeps, project: ProjectFacts, body: CreateDomain): Promise<DomainBody> {
  const { em } = deps;
  if (body.projectId !== undefined) refuseOtherProject(project, body.projectId);
  await refuseTaken(em, project, body.domain);
  const registered = await asked(deps, async (provider) => {
    const created = await provider.create(body.domain);
    const atOnce = deps.sandbox && body.domain.endsWith('.test') && !created.dkimVerified;
    return atOnce ? provider.check(created.providerId) : created;
  });
  const domain = em.create(Domain, {
    projectId: project.id,
    domain: body.domain,
    ...findings(body.domain, registered),
    providerId: registered.providerId,
    checkedAt: deps.now,
  });
  try {
    await em.flush();
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    // Another request took the name meanwhile; the provider has one entry for both, so it stays.
    await refuseTaken(em.fork(), project, body.domain);
    throw error;
  }
  return domainBody(domain, project.name);
}

/** Checks a domain now, at most once in ten seconds. @throws 404, 503 */
export async function checkDomain(deps: DomainDeps, projectId: string, id: string) {
  const domain = await load(deps.em, projectId, id);
  const providerId = domain.providerId;
  const recent = domain.checkedAt && deps.now.getTime() - domain.checkedAt.getTime() < checkPauseMs;
  if (!recent && providerId) {
    const found = await asked(deps, (provider) => provider.check(providerId));
    deps.em.assign(domain, { ...findings(domain.domain, found), checkedAt: deps.now });
    await deps.em.flush();
  }
  const { dkimTokens, status, verified, records } = domain;
  return { domain: domain.domain, tokens: dkimTokens, status, verified, records };
}

/** Removes a domain. @throws 404, 409 while templates or unfinished campaigns send from it */
export async function deleteDomain(deps: DomainDeps, projectId: string, id: string): Promise<void> {
  const domain = await load(deps.em, projectId, id);
  const use = await sqlOf(deps.em).row<{ templates: number; campaigns: number }>(
    `select (select count(*)::int from templates where project_id = $1 and split_part("from", '@', 2) = $2) as templates,
       (select count(*)::int from campaigns where project_id = $1 and split_part("from", '@', 2) = $2
          and status in ('DRAFT', 'SCHEDULED', 'SENDING')) as campaigns`,
    [projectId, domain.domain],
  );
  if (use && use.templates + use.campaigns > 0)
    throw conflict(`${use.templates} templates and ${use.campaigns} campaigns send from this domain`, { ...use });
  const { providerId } = domain;
  await deps.em.remove(domain).flush();
  if (!providerId || !deps.provider) return;
  await deps.provider.remove(providerId).catch((error: Error) => {
    deps.log.warn({ err: error.message, projectId }, 'a removed domain is still registered with the mail provider');
  });
}

async function asked(
  deps: DomainDeps,
  call: (provider: DomainProvider) => Promise<ProviderDomain>,
): Promise<ProviderDomain> {
  if (deps.provider === null)
    throw new AppError(
      503,
      'EXTERNAL_SERVICE_ERROR',
      'Domains cannot be managed: the operator has not set POSTMARK_ACCOUNT_TOKEN',
    );
  try {
    return await call(deps.provider);
  } catch (error) {
    deps.log.warn({ err: (error as Error).message }, 'the mail provider did not serve a domain call');
    throw new AppError(
      503,
      'EXTERNAL_SERVICE_ERROR',
      'The mail provider could not be asked about the domain; nothing was changed. Try again later',
    );
  }
}

async function refuseTaken(em: EntityManager, project: ProjectFacts, name: string): Promise<void> {
  const taken = await em.findOne(Domain, { domain: name });
  if (taken === null) return;
  if (taken.projectId === project.id)
    throw new AppError(400, 'BAD_REQUEST', `${name} is already a domain of this project`, {}, true);
  throw new AppError(403, 'FORBIDDEN', `${name} is already in use on this service`, {}, true);
}

function refuseOtherProject(project: ProjectFacts, projectId: string): void {
  if (projectId.toLowerCase() !== project.id)
    throw new AppError(403, 'PROJECT_ACCESS_DENIED', 'This key belongs to another project than the one named');
}

async function load(em: EntityManager, projectId: string, id: string): Promise<Domain> {
  const domain = await em.findOne(Domain, { projectId, id });
  if (domain === null) throw notFound('domain', id);
  return domain;
}

/** 403 for a sender whose domain is not verified for the project; the odd code is the contract's (page 1, 1.3). */
export function senderDomainRefused(domain: string): AppError {
  return new AppError(
    403,
    'INTERNAL_SERVER_ERROR',
    `The domain ${domain} is not a verified sender domain of this project: add it with POST /domains and set its DNS records`,
  );
}

/** What a provider's answer means for the row. */
export function findings(name: string, found: ProviderDomain) {
  const state = (good: boolean): DnsRecord['status'] => (good ? 'verified' : 'pending');
  const records: DnsRecord[] = [
    {
      purpose: 'DKIM',
      type: 'TXT',
      name: found.dkim.host,
      value: found.dkim.value,
      priority: null,
      required: true,
      status: state(found.dkimVerified),
    },
    {
      purpose: 'RETURN_PATH',
      type: 'CNAME',
      name: found.returnPath.host,
      value: found.returnPath.target,
      priority: null,
      required: false,
      status: state(found.returnPath.verified),
    },
    {
      purpose: 'DMARC',
      type: 'TXT',
      name: `_dmarc.${name}`,
      value: 'v=DMARC1; p=none;',
      priority: null,
      required: false,
      status: 'pending',
    },
  ];
  return {
    verified: found.dkimVerified,
    status: found.dkimVerified ? ('Success' as const) : ('Pending' as const),
    dkimTokens: [found.dkim.host.split('._domainkey')[0] ?? ''],
    records,
  };
}

function domainBody(domain: Domain, projectName?: string): DomainBody {
  return {
    id: domain.id,
    domain: domain.domain,
    verified: domain.verified,
    status: domain.status,
    dkimTokens: domain.dkimTokens,
    records: domain.records,
    projectId: domain.projectId,
    ...(projectName === undefined ? {} : { project: { name: projectName } }),
    createdAt: domain.createdAt.toISOString(),
    updatedAt: domain.updatedAt.toISOString(),
  };
}
