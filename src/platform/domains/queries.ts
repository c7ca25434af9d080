import { type Sql, statement } from '../../core/database/sql.ts';
import { isUuid } from '../../core/lib/ids.ts';
import type { DnsRecord, DomainStatus } from './schema.ts';

const projectOf = statement(
  'domains.project_of',
  `select d.project_id as "projectId" from domains d join memberships m on m.project_id = d.project_id and m.user_id = $2
   where d.id = $1`,
);

/** The project of a domain, for sessions that name none; null for a stranger, as for a domain that does not exist. */
export async function projectOfDomain(sql: Sql, id: string, userId: string): Promise<string | null> {
  if (!isUuid(id)) return null;
  return (await sql.row<{ projectId: string }>(projectOf, [id, userId]))?.projectId ?? null;
}

/** A domain as a check reads it. */
export interface CheckedDomain {
  id: string;
  projectId: string;
  domain: string;
  providerId: string | null;
  verified: boolean;
  wasVerified: boolean;
  status: DomainStatus;
  misses: number;
  records: DnsRecord[];
  dkimTokens: string[];
}

const columns = `d.id, d.project_id as "projectId", d.domain, d.provider_id as "providerId", d.verified,
  d.verified_at is not null as "wasVerified", d.status, d.misses, d.records, d.dkim_tokens as "dkimTokens"`;

const take = statement(
  'domains.take',
  `update domains d set checked_at = now()
   where d.id = $1 and (d.checked_at is null or d.checked_at < now() - $2::float8 * interval '1 millisecond')
   returning ${columns}`,
);

/** Takes a domain for a check; null when it was checked so short a time ago. */
export function takeDomain(sql: Sql, id: string, pauseMs: number): Promise<CheckedDomain | null> {
  return sql.row<CheckedDomain>(take, [id, pauseMs]);
}

// What nobody has set up in a month is looked at once an hour (contract page 3, 3.4). The rest comes back a little before
// the schedule does.
const takeDueOnes = statement(
  'domains.take_due',
  `with due as (
     select id from domains where due_at <= now() order by due_at, id limit $1 for update skip locked)
   update domains d set checked_at = now(), due_at = now() + case
     when d.verified or d.pending_since > now() - interval '30 days' then interval '4 minutes 30 seconds'
     else interval '59 minutes' end
   from due where d.id = due.id returning ${columns}`,
);

/** Takes up to `limit` domains whose next check is due; nobody else gets them until they are due again. */
export function takeDueDomains(sql: Sql, limit: number): Promise<CheckedDomain[]> {
  return sql.rows<CheckedDomain>(takeDueOnes, [limit]);
}

/** What a check changed: who must be told, at most so often as the contract says (page 3, 1.5). */
export interface DomainNotices {
  tellVerified: boolean;
  tellFailed: boolean;
}

const settle = statement(
  'domains.settle',
  `update domains d set verified = $5, status = $6, misses = $7, records = $8::jsonb, dkim_tokens = $9::jsonb,
     verified_at = case when $5 then coalesce(d.verified_at, now()) else d.verified_at end,
     pending_since = case when d.verified and not $5 then now() else d.pending_since end,
     verified_told_at = case when $10 then now() else d.verified_told_at end,
     failed_told_at = case when $11 then now() else d.failed_told_at end,
     updated_at = case when d.status <> $6 or d.records <> $8::jsonb then now() else d.updated_at end
   where d.id = $1 and d.verified = $2 and d.status = $3 and d.misses = $4`,
);
const toldBefore = statement(
  'domains.told',
  `select not d.verified and $2 and (d.verified_told_at is null or d.verified_told_at <= now() - interval '7 days') as "tellVerified",
     d.verified and not $2 and (d.failed_told_at is null
       or date_trunc('month', d.failed_told_at at time zone 'UTC') < date_trunc('month', now() at time zone 'UTC')) as "tellFailed"
   from domains d where d.id = $1 for no key update`,
);

/**
 * Writes down what a check found, inside a transaction, unless another check has moved the domain on meanwhile. Answers
 * who is to be told in the same transaction; null when nothing was written.
 */
export async function settleCheck(
  sql: Sql,
  before: CheckedDomain,
  after: Pick<CheckedDomain, 'verified' | 'status' | 'misses' | 'records' | 'dkimTokens'>,
): Promise<DomainNotices | null> {
  const told = await sql.row<DomainNotices>(toldBefore, [before.id, after.verified]);
  if (told === null) return null;
  const changed = await sql.count(settle, [
    before.id,
    before.verified,
    before.status,
    before.misses,
    after.verified,
    after.status,
    after.misses,
    JSON.stringify(after.records),
    JSON.stringify(after.dkimTokens),
    told.tellVerified,
    told.tellFailed,
  ]);
  return changed === 0 ? null : told;
}

const use = statement(
  'domains.use',
  `select (select count(*)::int from templates where project_id = $1 and lower(split_part("from", '@', -1)) = $2) as templates,
     (select count(*)::int from campaigns where project_id = $1 and lower(split_part("from", '@', -1)) = $2
        and status in ('DRAFT', 'SCHEDULED', 'SENDING')) as campaigns`,
);

/** How many templates and unfinished campaigns send from a domain. */
export async function useOfDomain(
  sql: Sql,
  projectId: string,
  domain: string,
): Promise<{ templates: number; campaigns: number }> {
  return (
    (await sql.row<{ templates: number; campaigns: number }>(use, [projectId, domain])) ?? {
      templates: 0,
      campaigns: 0,
    }
  );
}

const owner = statement(
  'domains.owner',
  `select d.project_id as "projectId", p.name, p.disabled,
     exists (select from memberships m where m.project_id = d.project_id and m.user_id = $2::uuid) as member
   from domains d join projects p on p.id = d.project_id where d.domain = $1`,
);

/** Who has a domain, and whether a user (null for none) belongs to them; null when nobody has it. */
export function ownerOf(
  sql: Sql,
  domain: string,
  userId: string | null,
): Promise<{ projectId: string; name: string; disabled: boolean; member: boolean } | null> {
  return sql.row(owner, [domain, userId]);
}
