import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { User } from '../../accounts/entity.ts';
import type { Audience } from '../../campaigns/audience/audience.ts';
import { sendFacts } from '../../campaigns/delivery/claims.ts';
import type { ClaimedRecipient } from '../../campaigns/delivery/ledger.ts';
import type { CampaignStatus } from '../../lib/enums.ts';
import { hourMs } from '../../lib/time.ts';
import { ofProject } from '../../projects/queries.ts';
import type { Holdout } from '../../projects/schema.ts';
import { baseColumns } from '../../store/columns.ts';
import { type StalledQuery, stalledRows } from '../../store/outbox/recovery.ts';
import { type Database, sql } from '../../store/sql.ts';
import type { AskedSend } from './approval.ts';
import type { ReviewFacts } from './findings.ts';
import type { Findings } from './report.ts';
import type { ReviewedRecipient } from './round.ts';

const p = defineEntity.properties;

/** A dry run of a campaign, and the send that somebody asked for by it. */
export const DryRun = defineEntity({
  name: 'DryRun',
  tableName: 'dry_runs',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    campaignId: p.uuid(),
    n: p.integer(),
    state: p.enum(['RUNNING', 'DONE', 'FAILED'] as const).default('RUNNING'),
    failedReason: p.text().nullable(),
    facts: p.json<ReviewFacts>(),
    expected: p.integer(),
    through: p.uuid().nullable(),
    audience: p.integer().default(0),
    wouldSend: p.integer().default(0),
    renderMs: p.float().columnType('double precision').default(0),
    chain: p.blob().defaultRaw("'\\x'::bytea").lazy(),
    findings: p.json<Partial<Findings>>().defaultRaw("'{}'::jsonb"),
    fingerprint: p.text().nullable(),
    finishedAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3),
    asked: p.json<AskedSend>().nullable(),
    askedAt: p.datetime(3).nullable(),
    approvedBy: p.manyToOne(User).mapToPk().deleteRule('set null').updateRule('no action').nullable(),
    approvedAt: p.datetime(3).nullable(),
    sample: p.integer().nullable(),
    rendered: p.integer().default(0),
  },
  uniques: [{ name: 'dry_runs_campaign', properties: ['campaignId', 'n'] }],
  indexes: [
    { name: 'dry_runs_expiry', properties: ['expiresAt'] },
    { name: 'dry_runs_project', properties: ['projectId'] },
    { name: 'dry_runs_running', properties: ['updatedAt'], where: "state = 'RUNNING'" },
  ],
  checks: [{ name: 'dry_runs_sample', expression: 'sample > 0' }],
});
export type DryRun = InferEntity<typeof DryRun>;

/** How long a review can be launched, in milliseconds; its rows are removed afterwards. */
const keptMs = 7 * 24 * hourMs;

/** A dry run that is under way, with what decides about its recipients now. */
export interface OpenDryRun extends Audience {
  id: string;
  campaignId: string;
  state: 'RUNNING' | 'DONE' | 'FAILED';
  facts: ReviewFacts;
  /** The last contact that was passed; null before the first. */
  through: string | null;
  audience: number;
  /** Contacts that the audience was counted to have. */
  expected: number;
  /** How many messages are rendered; null for all. */
  sample: number | null;
  /** How many were. */
  rendered: number;
  chain: Buffer;
  findings: Findings;
  /** As Postgres writes it: later contacts are not in the audience. */
  startedAt: string;
  /** Null once the campaign is gone. */
  status: CampaignStatus | null;
  sendSeq: number;
  projectDisabled: boolean;
  domainVerified: boolean;
  /** The control group of the project; null for none. */
  holdout: Holdout | null;
}

/** A dry run, or null. */
export function loadDryRun(db: Database, id: string): Promise<OpenDryRun | null> {
  return db.row(sql`
    select r.id, r.project_id as "projectId", r.campaign_id as "campaignId", r.state, r.facts, r.through, r.audience, r.expected, r.sample,
      r.rendered, r.chain,
      r.findings, r.created_at::text as "startedAt", c.status, c.send_seq as "sendSeq", c.type,
      c.audience_type as "audienceType", c.audience_condition as "audienceCondition", c.segment_id as "segmentId",
      c.resend_of as "resendOf", c.resend_seq as "resendSeq", c.correction, ${sendFacts('r.project_id', 'c."from"')}
    from dry_runs r left join campaigns c on c.id = r.campaign_id and c.project_id = r.project_id
    where r.id = ${id}`);
}

/** The contacts with these IDs as a delivery lane would read them, in the order of their IDs; a contact stands for its mail. */
export function readContacts(db: Database, projectId: string, ids: readonly string[]): Promise<ClaimedRecipient[]> {
  return db.rows(sql`
    select c.id as "emailId", c.id as "contactId", c.email as "toAddress", c.subscribed, c.email, c.data,
      null as "messageId", null as "provenAt"
    from contacts c where c.project_id = ${projectId}::uuid and c.id = any(${ids}::uuid[]) order by c.id`);
}

/** The findings that a page of an audience adds to its dry run. */
export interface ReviewedPage {
  through: string;
  reviewed: readonly ReviewedRecipient[];
  findings: Findings;
  chain: Buffer;
  /** Messages that were rendered, and how long that took. */
  rendered: number;
  renderMs: number;
}

/**
 * Keeps a page: its rows, and how far the run has come, in one statement. Only from the place that the caller knows; answers
 * false where another worker has moved it or the run is over.
 */
export async function savePage(db: Database, { id, through }: OpenDryRun, page: ReviewedPage): Promise<boolean> {
  const { reviewed } = page;
  const wouldSend = reviewed.filter(({ leftOut }) => leftOut === null).length;
  const moved = await db.count(sql`
    with moved as (
      update dry_runs set through = ${page.through}, audience = audience + ${reviewed.length}, would_send = would_send + ${wouldSend},
        rendered = rendered + ${page.rendered},
        findings = ${JSON.stringify(page.findings)}::jsonb, chain = ${page.chain}::bytea, render_ms = render_ms + ${page.renderMs},
        updated_at = now()
      where id = ${id} and state = 'RUNNING' and through is not distinct from ${through}::uuid returning id),
    kept as (
      insert into dry_run_rows (dry_run_id, contact_id, body_hash, bytes, left_out)
      select m.id, k.contact_id, decode(k.hash, 'hex'), k.bytes, k.left_out
      from moved m, unnest(${reviewed.map(({ contactId }) => contactId)}::uuid[],
        ${reviewed.map(({ finding }) => finding?.hash ?? null)}::text[], ${reviewed.map(({ finding }) => finding?.bytes ?? null)}::int[],
        ${reviewed.map(({ leftOut }) => leftOut)}::text[]) as k (contact_id, hash, bytes, left_out))
    select from moved`);
  return moved > 0;
}

/** Ends a dry run that is under way as failed. Answers false when it was over. */
export async function failDryRun(db: Database, id: string, reason: string): Promise<boolean> {
  const now = new Date();
  const failed = { state: 'FAILED', failedReason: reason, finishedAt: now, updatedAt: now } as const;
  return (await db.session().em.nativeUpdate(DryRun, { id, state: 'RUNNING' }, failed)) > 0;
}

const mostDomains = 20;

/** The domains that most of the mail would go to. */
export function mailByDomain(db: Database, id: string): Promise<{ domain: string; count: number }[]> {
  return db.rows(sql`
    select split_part(c.email, '@', 2) as domain, count(*)::int as count
    from dry_run_rows r join contacts c on c.id = r.contact_id
    where r.dry_run_id = ${id} and r.left_out is null group by 1 order by count desc, domain limit ${mostDomains}`);
}

/** Some of those whose message was rendered, by chance but always the same. */
export async function sampledContacts(db: Database, id: string, most: number): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select contact_id as id from dry_run_rows where dry_run_id = ${id} and body_hash is not null
    order by sha256(uuid_send(contact_id)) limit ${most}`);
  return rows.map((row) => row.id);
}

/** Ends a dry run that has passed everybody. */
export async function finishDryRun(
  db: Database,
  id: string,
  { findings, fingerprint }: { findings: Findings; fingerprint: string },
): Promise<void> {
  const now = new Date();
  const done = {
    state: 'DONE',
    findings,
    fingerprint,
    finishedAt: now,
    expiresAt: keptUntil(now),
    updatedAt: now,
  } as const;
  await db.session().em.nativeUpdate(DryRun, { id, state: 'RUNNING' }, done);
}

// Whether a send goes by the review `r` that has not frozen its audience yet: one that is scheduled or being prepared.
const isLaunching = sql`exists (
  select from campaign_sends s where s.campaign_id = r.campaign_id and s.review_id = r.id and not s.expanded and not s.closed)`;

/** Writes a new dry run of a locked campaign. One that is under way ends, and older ones can be launched for a day more. */
export async function insertDryRun(
  tx: Database,
  run: {
    id: string;
    projectId: string;
    campaignId: string;
    facts: ReviewFacts;
    expected: number;
    sample: number | null;
  },
): Promise<number> {
  const { campaignId } = run;
  await tx.count(sql`
    update dry_runs r set updated_at = now(),
      expires_at = case when ${isLaunching} then expires_at else least(expires_at, now() + interval '1 day') end,
      failed_reason = case when state = 'RUNNING' then 'A newer dry run has replaced it' else failed_reason end,
      finished_at = coalesce(finished_at, now()), state = case when state = 'RUNNING' then 'FAILED' else state end
    where campaign_id = ${campaignId} and asked_at is null`);
  const latest = await tx.em.findOne(DryRun, { campaignId }, { fields: ['n'], orderBy: { n: 'desc' } });
  const n = (latest?.n ?? 0) + 1;
  await tx.em.insert(DryRun, { ...run, n, expiresAt: keptUntil(new Date()) });
  return n;
}

const keptUntil = (from: Date) => new Date(from.getTime() + keptMs);

/**
 * Removes the rows of reviews that have expired or whose campaign is gone, then the reviews. What a send that is being prepared
 * goes by stays. Answers how many rows.
 */
export async function removeOldDryRuns(db: Database, limit: number): Promise<number> {
  const run = await db.row<{ id: string }>(sql`
    select r.id from dry_runs r
    where r.state <> 'RUNNING' and r.expires_at < now() and not ${isLaunching}
    order by r.expires_at limit 1`);
  if (run === null) return 0;
  const rows = await db.count(sql`
    delete from dry_run_rows where (dry_run_id, contact_id) in (
      select dry_run_id, contact_id from dry_run_rows where dry_run_id = ${run.id} limit ${limit})`);
  if (rows >= limit) return rows;
  return rows + (await db.session().em.nativeDelete(DryRun, { id: run.id }));
}

/** Dry runs that are under way and have not moved for some time. */
export function stalledDryRuns(
  db: Database,
  query: StalledQuery,
): Promise<{ id: string; projectId: string; campaignId: string; n: number; at: string }[]> {
  const columns = 'id, project_id as "projectId", campaign_id as "campaignId", n';
  return stalledRows(db, { table: 'dry_runs', open: "state = 'RUNNING'", columns }, query);
}
