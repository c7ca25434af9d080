import { isoInstant } from '../../../core/database/columns.ts';
import { type Database, sql } from '../../../core/database/sql.ts';
import { actorName } from '../../../platform/audit/index.ts';
import type { Approval, Drift } from './schema.ts';

/** A send that somebody asked for and that has to be approved. */
export interface AskedSend {
  drift: Drift;
  /** ISO instant; null for at once. */
  scheduledFor: string | null;
  recipients: number;
  by: { kind: 'user' | 'key' | 'mcp'; id: string };
  /** Further options of the request, as they came. */
  options: Record<string, unknown>;
  /** The key whose limits hold for the send; absent in what was asked before this was kept. */
  limitedBy?: string | null;
}

/** A send that waits, with the review it goes by. */
export interface PendingApproval extends AskedSend {
  reviewId: string;
  fingerprint: string;
}

const pending = sql`r.asked_at is not null and r.approved_at is null and r.state = 'DONE' and r.expires_at > clock_timestamp()`;

/** What waits of some campaigns, by their IDs. */
export async function pendingApprovals(db: Database, campaignIds: readonly string[]): Promise<Map<string, Approval>> {
  if (campaignIds.length === 0) return new Map();
  const rows = await db.rows<{
    id: string;
    n: number;
    fingerprint: string;
    asked: AskedSend;
    name: string | null;
    askedAt: string;
    expiresAt: string;
  }>(sql`
    select r.campaign_id as id, r.n, r.fingerprint, r.asked, r.asked_at::text as "askedAt", r.expires_at::text as "expiresAt",
      ${actorName("r.asked -> 'by' ->> 'kind'", "r.asked -> 'by' ->> 'id'", 'r.project_id')} as name
    from dry_runs r where r.campaign_id = any(${campaignIds}::uuid[]) and ${pending} order by r.n`);
  return new Map(
    rows.map(({ id, n, fingerprint, asked, name, askedAt, expiresAt }) => [
      id,
      {
        state: 'PENDING',
        fingerprint,
        review: n,
        recipients: asked.recipients,
        drift: asked.drift,
        scheduledFor: asked.scheduledFor,
        requestedBy: { ...asked.by, name },
        requestedAt: isoInstant(askedAt),
        expiresAt: isoInstant(expiresAt),
      },
    ]),
  );
}

/** What waits of a locked campaign; null for nothing. */
export async function pendingApproval(tx: Database, campaignId: string): Promise<PendingApproval | null> {
  const row = await tx.row<{ reviewId: string; fingerprint: string; asked: AskedSend }>(sql`
    select r.id as "reviewId", r.fingerprint, r.asked from dry_runs r where r.campaign_id = ${campaignId} and ${pending}
    order by r.n desc limit 1`);
  return row === null ? null : { reviewId: row.reviewId, fingerprint: row.fingerprint, ...row.asked };
}

/** Lets a send wait for its approval, in place of another that waits. */
export async function writeAsked(tx: Database, campaignId: string, reviewId: string, asked: AskedSend): Promise<void> {
  await withdrawAsked(tx, campaignId);
  await tx.count(sql`
    update dry_runs set asked = ${JSON.stringify(asked)}::jsonb, asked_at = clock_timestamp(), approved_at = null, approved_by = null,
      updated_at = now() where id = ${reviewId}`);
}

/** Forgets what waits. */
export async function withdrawAsked(tx: Database, campaignId: string): Promise<void> {
  await tx.count(sql`
    update dry_runs set asked = null, asked_at = null, updated_at = now()
    where campaign_id = ${campaignId} and asked_at is not null and approved_at is null`);
}

/** Notes who approved a send. */
export async function noteApproved(tx: Database, reviewId: string, userId: string): Promise<void> {
  await tx.count(sql`
    update dry_runs set approved_at = clock_timestamp(), approved_by = ${userId}, updated_at = now() where id = ${reviewId}`);
}

/** Sends to more contacts than this need an approval; null where the project asks for none. */
export async function approvalAbove(tx: Database, projectId: string): Promise<number | null> {
  const row = await tx.row<{ above: number | null }>(
    sql`select approval_above as above from projects where id = ${projectId}`,
  );
  return row?.above ?? null;
}
