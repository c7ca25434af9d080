import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { parse } from 'tldts';
import { AppError, bareBadRequest, conflict, forbidden, notFound } from '../lib/errors.ts';
import { recordChange } from '../projects/audit/record.ts';
import type { ProjectFacts, VerifiedDomains } from '../projects/directory.ts';
import type { Author, Database } from '../store/sql.ts';
import { type CheckDeps, checkTaken, newOwnKey } from './checks.ts';
import {
  Domain,
  DomainRemoval,
  isTrusted,
  ownerOf,
  removalDone,
  removeLater,
  takeDomain,
  useOfDomain,
} from './queries.ts';
import { adviseDmarc, findDmarc } from './records/dmarc.ts';
import type { DnsLookup } from './records/findings.ts';
import type { CreateDomain, DmarcCheck, DnsRecord, DomainBody, DomainCheck } from './schema.ts';
import { firstState } from './state.ts';

const checkPauseMs = 10_000;

export interface DomainDeps extends CheckDeps {
  /** The signed-in user who asks; null for a key. */
  userId: string | null;
  /** Encrypts private keys of our own. */
  encryptionKey: string;
  /** Whether domains of projects that are not trusted wait for the operator. */
  holdsPublicDomains: boolean;
  now: Date;
}

/** The domains of a project, newest first. @throws 403 for the id of another project */
export async function listDomains(db: Database, project: ProjectFacts, projectId: string): Promise<DomainBody[]> {
  refuseOtherProject(project, projectId);
  const domains = await db.em.find(
    Domain,
    { projectId: project.id },
    { orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] },
  );
  return domains.map((domain) => domainBody(domain));
}

/**
 * Registers a domain with the provider, or makes a key pair of our own where there is no register, and answers the DNS
 * records to set (docs/contract/platform.md#3-3).
 * @throws bare 400 when the project has it or another one of the caller's does, bare 403 when a stranger's has it, 403 for
 * the subdomain of a disabled project's domain, 503 when the provider cannot be asked
 */
export async function createDomain(
  deps: DomainDeps,
  project: Pick<ProjectFacts, 'id' | 'name'>,
  body: CreateDomain,
): Promise<DomainBody> {
  const { db, provider } = deps;
  const name = body.domain;
  if (body.projectId !== undefined) refuseOtherProject(project, body.projectId);
  await refuseTaken(deps, project, name);
  await refuseDisabledRoot(db, name);
  const facts = provider === null ? await withOwnKey(deps, name) : await registered(deps, name);
  // Not counted as a check: who has set the records at once may ask at once.
  let domain: Domain;
  try {
    domain = await db.transaction(async (tx) => {
      const approved = !deps.holdsPublicDomains || (await isTrusted(tx, project.id));
      const created = tx.em.create(Domain, {
        projectId: project.id,
        domain: name,
        approved,
        checkedAt: null,
        ...facts,
      });
      await tx.em.flush();
      await recordChange(tx, project.id, { action: 'domain.added', target: created.id, after: { domain: name } });
      return created;
    });
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    // Another request took the name meanwhile; the provider has one entry for both, so it stays.
    await refuseTaken(deps, project, name);
    throw error;
  }
  if (!domain.approved)
    deps.log.warn(
      { projectId: project.id },
      'a domain waits for the approval of an operator: npm run project -- waiting lists it',
    );
  return domainBody(domain, project.name);
}

async function registered(deps: DomainDeps, name: string) {
  // A sandbox has no DNS of its own: names below .test are taken to be set up.
  const atOnce = deps.dns === null && name.endsWith('.test');
  const found = await asked(deps, async (provider) => {
    // The domain is wanted again: what the provider still has of it is used.
    await deps.db.em.nativeDelete(DomainRemoval, { domain: name });
    const created = await provider.create(name);
    return atOnce && created.state !== 'Success' ? provider.check(created.providerId) : created;
  });
  const { tokens: dkimTokens, providerId } = found;
  const { records, verified, status } = firstState(name, found);
  return { records: [...records], verified, status, verifiedAt: verified ? deps.now : null, dkimTokens, providerId };
}

async function withOwnKey(deps: DomainDeps, name: string) {
  const key = await newOwnKey(name, deps.encryptionKey, deps.now);
  const { records } = firstState(name, { state: 'Pending', records: [key.record] });
  return { records: [...records], dkimTokens: [key.selector], dkimKeySealed: key.keySealed };
}

/** Checks a domain now, at most once in ten seconds; in between the last result stands. @throws 404, 503 */
export async function checkDomain(deps: DomainDeps, projectId: string, id: string): Promise<DomainCheck> {
  const domain = await load(deps.db, projectId, id);
  const taken = await takeDomain(deps.db, domain.id, checkPauseMs);
  if (taken === null) return checkBody(domain);
  return checkBody((await asked(deps, () => checkTaken(deps, taken, false))).domain);
}

/** Looks up the DMARC record of a domain and says what to change; nothing is stored. @throws 404 */
export async function checkDmarc(
  db: Database,
  dns: DnsLookup | null,
  projectId: string,
  id: string,
): Promise<DmarcCheck> {
  const { domain, records, verified } = await load(db, projectId, id);
  const hasDkim =
    records.length === 0 ? verified : records.some((each) => each.purpose === 'DKIM' && each.status === 'verified');
  const found = dns === null ? { records: [], inheritedFrom: null, isAnswered: false } : await findDmarc(dns, domain);
  const judged = adviseDmarc(found, { domain, hasDkim });
  if (found.isAnswered) return { state: judged.record === null ? 'missing' : 'found', ...judged };
  // Silence proves nothing: only what is known without the DNS is said.
  const advice = judged.advice.filter(({ code }) => code.endsWith('ALIGNED'));
  return { ...judged, state: dns === null ? 'skipped' : 'unanswered', advice };
}

/** Removes a domain. @throws 404, 409 while templates or unfinished campaigns send from it */
export async function deleteDomain(deps: DomainDeps, projectId: string, id: string): Promise<void> {
  const domain = await load(deps.db, projectId, id);
  const use = await useOfDomain(deps.db, projectId, domain.domain);
  if (use.templates + use.campaigns > 0)
    throw conflict(`${use.templates} templates and ${use.campaigns} campaigns send from this domain`, { ...use });
  const { providerId } = domain;
  await deps.db.transaction(async (tx) => {
    if (providerId) await removeLater(tx, providerId, domain.domain);
    await tx.em.nativeDelete(Domain, { id });
    const before = { domain: domain.domain };
    await recordChange(tx, projectId, { action: 'domain.removed', target: domain.id, before });
  });
  if (!providerId || !deps.provider) return;
  try {
    await deps.provider.remove(providerId);
    await removalDone(deps.db, providerId);
  } catch (error) {
    deps.log.warn(
      { err: (error as Error).message, projectId },
      'the mail provider did not remove a domain; it is tried again',
    );
  }
}

type Provider = NonNullable<CheckDeps['provider']>;

async function asked<T>(deps: DomainDeps, call: (provider: Provider) => Promise<T>): Promise<T> {
  try {
    return await call(deps.provider as Provider);
  } catch (error) {
    deps.log.warn({ err: (error as Error).message }, 'the mail provider did not serve a domain call');
    throw new AppError(
      503,
      'EXTERNAL_SERVICE_ERROR',
      'The mail provider could not be asked about the domain; nothing was changed. Try again later',
    );
  }
}

async function refuseTaken(deps: DomainDeps, project: Pick<ProjectFacts, 'id'>, name: string): Promise<void> {
  const taken = await ownerOf(deps.db, name, deps.userId);
  if (taken === null) return;
  if (taken.projectId === project.id) throw bareBadRequest(`${name} is already a domain of this project`);
  if (taken.member)
    throw bareBadRequest(`${name} is already a domain of your project "${taken.name}": send from it there`);
  throw new AppError(403, 'FORBIDDEN', `${name} is already in use on this service`, {}, true);
}

// Who was stopped for abuse must not go on below the same name.
async function refuseDisabledRoot(db: Database, name: string): Promise<void> {
  const root = parse(name).domain;
  if (root === null || root === name) return;
  const above = await ownerOf(db, root, null);
  if (above?.disabled)
    throw forbidden(`${root} belongs to a project that is disabled: no domain below it can be added`);
}

function refuseOtherProject(project: Pick<ProjectFacts, 'id'>, projectId: string): void {
  if (projectId.toLowerCase() !== project.id)
    throw new AppError(403, 'PROJECT_ACCESS_DENIED', 'This key belongs to another project');
}

async function load(db: Database, projectId: string, id: string): Promise<Domain> {
  const domain = await db.em.findOne(Domain, { projectId, id });
  if (domain === null) throw notFound('domain', id);
  return domain;
}

/**
 * Refuses a sender domain that is not verified for the project, or that an operator has not approved. @throws 403; the odd
 * code of the first is the contract's (docs/contract/core.md#1-3)
 */
export function checkSenderDomain(domains: VerifiedDomains, domain: string): void {
  const approved = domains.get(domain);
  if (approved === undefined)
    throw new AppError(
      403,
      'INTERNAL_SERVER_ERROR',
      `The domain ${domain} is not a verified sender domain of this project: add it with POST /domains and set its DNS records`,
      { details: { reason: 'domain_unverified' } },
    );
  if (!approved)
    throw forbidden(
      `The domain ${domain} is verified, but the operator of this service has not approved it yet`,
      { reason: 'operator_approval', domain },
      'Ask the operator of this service to approve the domain; the request works as soon as they have.',
    );
}

/** @throws 403 for a sender whose domain the key, of which the limits are given, may not use */
export function checkKeySender(key: Pick<Author, 'senderDomains'> | null, domain: string): void {
  if (!key?.senderDomains || key.senderDomains.includes(domain)) return;
  throw forbidden(
    `This key may not send from ${domain}`,
    { reason: 'sender', domain, allowed: key.senderDomains },
    'Use one of the domains of the key as "from", or another key.',
  );
}

function checkBody(domain: Pick<Domain, 'domain' | 'dkimTokens' | 'status' | 'verified' | 'records'>): DomainCheck {
  const { dkimTokens, status, verified, records } = domain;
  return { domain: domain.domain, tokens: dkimTokens, status, verified, records: records.map(recordBody) };
}

// Rows of earlier versions know no findings.
function recordBody(record: DnsRecord): DnsRecord {
  return { ...record, finding: record.finding ?? null };
}

function domainBody(domain: Domain, projectName?: string): DomainBody {
  return {
    id: domain.id,
    domain: domain.domain,
    verified: domain.verified,
    approved: domain.approved,
    status: domain.status,
    dkimTokens: domain.dkimTokens,
    records: domain.records.map(recordBody),
    projectId: domain.projectId,
    ...(projectName === undefined ? {} : { project: { name: projectName } }),
    createdAt: domain.createdAt.toISOString(),
    updatedAt: domain.updatedAt.toISOString(),
  };
}
