import { isoInstant } from '../../store/columns.ts';
import { type Database, sql } from '../../store/sql.ts';
import type { SendKey } from '../delivery/ledger.ts';
import type { Campaign } from '../entity.ts';
import type { SentVersion } from './schema.ts';

/** A campaign whose current send may have been revised. */
export type RevisedSend = Pick<Campaign, 'id' | 'sendSeq' | 'contentVersion' | 'subject' | 'body' | 'sentCount'>;

/**
 * The versions of the content of a campaign's current send, the first one first. How many got a version is noted when it is replaced,
 * so that this takes no longer for a larger campaign; the current version has all others.
 */
export async function sentVersions(db: Database, campaign: RevisedSend): Promise<SentVersion[]> {
  const { id, sendSeq, contentVersion, subject, sentCount } = campaign;
  const former =
    contentVersion === 1
      ? []
      : await db.rows<SentVersion & { replacedAt: string }>(sql`
          select version, subject, sent as "sentCount", replaced_at::text as "replacedAt" from campaign_versions
          where campaign_id = ${id} and send_seq = ${sendSeq} order by version`);
  const before = former.reduce((sum, version) => sum + version.sentCount, 0);
  return [
    ...former.map((version) => ({ ...version, replacedAt: isoInstant(version.replacedAt) })),
    { version: contentVersion, subject, sentCount: Math.max(0, sentCount - before), replacedAt: null },
  ];
}

/** Notes that mail without a note has a version that was replaced, and counts it there. */
export async function noteVersion(
  db: Database,
  { campaignId, sendSeq }: SendKey,
  version: number,
  emailIds: readonly string[],
): Promise<void> {
  await db.count(sql`
    with noted as (
      update emails set content_version = ${version}::int
      where id = any(${emailIds}::uuid[]) and campaign_id = ${campaignId}::uuid and content_version is null and sent_at is null
      returning 1)
    update campaign_versions set sent = sent + (select count(*) from noted)
    where campaign_id = ${campaignId} and send_seq = ${sendSeq} and version = ${version} and exists (select from noted)`);
}
