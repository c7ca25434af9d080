import { isDeepStrictEqual } from 'node:util';
import { defineEntity, type InferEntity, LockMode } from '@mikro-orm/core';
import { unfinishedStatuses } from '../lib/enums.ts';
import { isUuid } from '../lib/ids.ts';
import { unseal } from '../lib/seal.ts';
import { dayMs } from '../lib/time.ts';
import { Membership, ofProject, Project } from '../projects/queries.ts';
import { databaseNow } from '../store/changes.ts';
import { baseColumns } from '../store/columns.ts';
import { recordingEvents } from '../store/record-events.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import type { SigningKey } from './providers/smtp/smtp.ts';
import { type DnsRecord, type DomainBody, domainStatuses } from './schema.ts';

const p = defineEntity.properties;

/** A domain from which a project sends, once it is verified. */
export const Domain = defineEntity({
  name: 'Domain',
  tableName: 'domains',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    domain: p.text().unique(),
    verified: p.boolean().default(false),
    approved: p.boolean().default(true),
    status: p.enum(domainStatuses).default('Pending'),
    dkimTokens: p.json<string[]>().defaultRaw("'[]'::jsonb"),
    records: p.json<DnsRecord[]>().defaultRaw("'[]'::jsonb"),
    providerId: p.text().nullable(),
    checkedAt: p.datetime(3).nullable(),
    dkimKeySealed: p.text().nullable().lazy(),
    verifiedAt: p.datetime(3).nullable(),
    misses: p.smallint().default(0),
    pendingSince: p.datetime(3).defaultRaw('now()').lazy(),
    dueAt: p.datetime(3).defaultRaw('now()').lazy(),
    verifiedToldAt: p.datetime(3).nullable().lazy(),
    failedToldAt: p.datetime(3).nullable().lazy(),
  },
  indexes: [
    { name: 'domains_due', properties: ['dueAt', 'id'] },
    { name: 'domains_project', columns: [{ name: 'project_id' }, { name: 'created_at', sort: 'desc' }] },
  ],
});
export type Domain = InferEntity<typeof Domain>;

/** A domain that the provider must forget. */
export const DomainRemoval = defineEntity({
  name: 'DomainRemoval',
  tableName: 'domain_removals',
  properties: {
    providerId: p.text().primary(),
    domain: p.text(),
    dueAt: p.datetime(3).defaultRaw('now()'),
    createdAt: baseColumns.createdAt,
  },
  indexes: [{ name: 'domain_removals_due', properties: ['dueAt'] }],
});

/** Notes, in the transaction that deletes a domain, that the provider must forget it as well. */
export async function removeLater(tx: Database, providerId: string, domain: string): Promise<void> {
  const dueAt = new Date(Date.now() + 60_000);
  await tx.em.upsert(DomainRemoval, { providerId, domain, dueAt }, { onConflictAction: 'ignore' });
}

/** Notes that the provider has forgotten a domain. */
export async function removalDone(db: Database, providerId: string): Promise<void> {
  await db.session().em.nativeDelete(DomainRemoval, { providerId });
}

/** Takes removals whose time has come, for an attempt; what fails again is tried ever more rarely. */
export async function takeRemovals(db: Database, limit: number): Promise<string[]> {
  const rows = await db.rows<{ providerId: string }>(sql`
    with due as (
      select provider_id from domain_removals r where due_at <= now() order by due_at limit ${limit} for update skip locked)
    update domain_removals r
      set due_at = now() + least(interval '1 day', greatest(interval '5 minutes', now() - r.created_at))
      from due where r.provider_id = due.provider_id
        and not exists (select from domains d where d.provider_id = r.provider_id)
      returning r.provider_id as "providerId"`);
  return rows.map(({ providerId }) => providerId);
}

/**
 * The key with which mail from a domain is signed; null for a domain that is not verified or that the provider signs for.
 * `encryptionKeys`: those that may have sealed it.
 * @throws UnsealError when none of them has
 */
export async function signingKey(
  db: Database,
  encryptionKeys: string | readonly string[],
  domain: string,
): Promise<SigningKey | null> {
  const row = await db.row<{ domain: string; selector: string; sealed: string }>(sql`
    select domain, dkim_tokens ->> 0 as selector, dkim_key_sealed as sealed from domains
      where domain = ${domain.toLowerCase()} and verified and dkim_key_sealed is not null`);
  if (row === null) return null;
  return { domainName: row.domain, keySelector: row.selector, privateKey: unseal(row.sealed, encryptionKeys) };
}

/** The project of a domain, for sessions that name none; null for a stranger, as for a domain that does not exist. */
export async function projectOfDomain(db: Database, id: string, userId: string): Promise<string | null> {
  if (!isUuid(id)) return null;
  const { em } = db.session();
  const domain = await em.findOne(Domain, id);
  if (domain === null) return null;
  const { projectId } = domain;
  return (await em.count(Membership, { projectId, userId })) > 0 ? projectId : null;
}

/** A domain as a check reads it. */
export interface CheckedDomain
  extends Pick<DomainBody, 'id' | 'projectId' | 'domain' | 'verified' | 'status' | 'records' | 'dkimTokens'> {
  providerId: string | null;
  wasVerified: boolean;
  misses: number;
}

const checkedColumns = raw(`d.id, d.project_id as "projectId", d.domain, d.provider_id as "providerId", d.verified,
  d.verified_at is not null as "wasVerified", d.status, d.misses, d.records, d.dkim_tokens as "dkimTokens"`);

/** Takes a domain for a check; null when it was checked so short a time ago. */
export function takeDomain(db: Database, id: string, pauseMs: number): Promise<CheckedDomain | null> {
  return db.row(sql`
    update domains d set checked_at = now()
      where d.id = ${id} and (d.checked_at is null or d.checked_at < now() - ${pauseMs}::float8 * interval '1 millisecond')
      returning ${checkedColumns}`);
}

/** Takes up to `limit` domains whose next check is due; nobody else gets them until they are due again. */
export function takeDueDomains(db: Database, limit: number): Promise<CheckedDomain[]> {
  // A domain that nobody has set up in a month is checked once an hour (docs/contract/platform.md#3-4). The rest comes back a little
  // before the schedule does.
  return db.rows(sql`
    with due as (
      select id from domains where due_at <= now() order by due_at, id limit ${limit} for update skip locked)
    update domains d set checked_at = now(), due_at = now() + case
        when d.verified or d.pending_since > now() - interval '30 days' then interval '4 minutes 30 seconds'
        else interval '59 minutes' end
      from due where d.id = due.id returning ${checkedColumns}`);
}

/** Whether members are notified of a change, as often as the contract allows (docs/contract/platform.md#1-5). */
interface DomainNotices {
  tellVerified: boolean;
  tellFailed: boolean;
}

/**
 * Stores the result of a check, in the caller's transaction, unless another check has moved the domain on meanwhile. Returns
 * whether members are to be notified in the same transaction; null when nothing was written.
 */
export async function settleCheck(
  tx: Database,
  before: CheckedDomain,
  after: Pick<CheckedDomain, 'verified' | 'status' | 'misses' | 'records' | 'dkimTokens'>,
): Promise<DomainNotices | null> {
  const { id, verified, status, misses } = before;
  const lock = { populate: ['verifiedToldAt', 'failedToldAt'], lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const domain = await tx.em.findOne(Domain, { id, verified, status, misses }, lock);
  if (domain === null) return null;
  const now = await databaseNow(tx);
  const [gained, lost] = [after.verified && !verified, verified && !after.verified];
  const tellVerified =
    gained && !(domain.verifiedToldAt && domain.verifiedToldAt > new Date(now.getTime() - 7 * dayMs));
  const tellFailed = lost && domain.failedToldAt?.toISOString().slice(0, 7) !== now.toISOString().slice(0, 7);
  const isNews = status !== after.status || !isDeepStrictEqual(domain.records, after.records);
  await tx.em.nativeUpdate(
    Domain,
    { id },
    {
      verified: after.verified,
      status: after.status,
      misses: after.misses,
      records: after.records,
      dkimTokens: after.dkimTokens,
      ...(after.verified && !domain.verifiedAt && { verifiedAt: now }),
      ...(lost && { pendingSince: now }),
      ...(tellVerified && { verifiedToldAt: now }),
      ...(tellFailed && { failedToldAt: now }),
      ...(isNews && { updatedAt: now }),
    },
  );
  if (gained || lost) {
    const name = gained ? 'domain.verified' : 'domain.lost';
    const event = { projectId: before.projectId, name, data: { domainId: id, domain: before.domain } };
    await tx.count(recordingEvents({ events: [event] }));
  }
  return { tellVerified, tellFailed };
}

/** How many templates and unfinished campaigns send from a domain. */
export async function useOfDomain(
  db: Database,
  projectId: string,
  domain: string,
): Promise<{ templates: number; campaigns: number }> {
  const row = await db.row<{ templates: number; campaigns: number }>(sql`
    select (select count(*)::int from templates
        where project_id = ${projectId} and lower(split_part("from", '@', -1)) = ${domain}) as templates,
      (select count(*)::int from campaigns
        where project_id = ${projectId} and lower(split_part("from", '@', -1)) = ${domain}
          and status in ${raw(unfinishedStatuses.sql)}) as campaigns`);
  return row ?? { templates: 0, campaigns: 0 };
}

/** SQL: whether a project may send from an address, each named by an expression: the domain of the address is verified and approved. */
export function maySendFrom(project: string, address: string): string {
  return `exists (select from domains d where d.project_id = ${project} and d.verified and d.approved
    and d.domain = lower(split_part(${address}, '@', 2)))`;
}

/** Reports whether an operator vouches for a project. */
export async function isTrusted(db: Database, projectId: string): Promise<boolean> {
  return (await db.em.count(Project, { id: projectId, trusted: true })) > 0;
}

/** Who has a domain, and whether a user (null for none) belongs to them; null when nobody has it. */
export async function ownerOf(
  db: Database,
  domain: string,
  userId: string | null,
): Promise<{ projectId: string; name: string; disabled: boolean; member: boolean } | null> {
  const { em } = db.session();
  const owned = await em.findOne(Domain, { domain }, { fields: ['projectId'], disableIdentityMap: true });
  if (owned === null) return null;
  const { projectId } = owned;
  const { name, disabled } = await em.findOneOrFail(Project, { id: projectId }, { fields: ['name', 'disabled'] });
  const member = userId !== null && (await em.count(Membership, { projectId, userId })) > 0;
  return { projectId, name, disabled, member };
}
