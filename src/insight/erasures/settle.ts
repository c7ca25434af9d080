import { LockMode } from '@mikro-orm/core';
import { usageMoved } from '../../billing/daily-queries.ts';
import { isOfClaim } from '../../campaigns/delivery/held.ts';
import { Campaign, CampaignLedgerSum, CampaignSend } from '../../campaigns/entity.ts';
import { ledgerHash } from '../../campaigns/results/recipients-queries.ts';
import { Contact } from '../../contacts/entity.ts';
import { finishedStatuses } from '../../lib/enums.ts';
import { leastId } from '../../lib/ids.ts';
import { countingSkipped, countingUnsent, endedColumns } from '../../mail/ledger/counting.ts';
import { redactEntries } from '../../projects/audit/record.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import type { ChangedLedger, Mention } from './entity.ts';
import type { Subject } from './export.ts';
import type { StepPage } from './steps.ts';

const rowsPerScan = 20_000;

/** Sends of campaigns whose ledgers name the contact, on the next page of the project's mail; `last` is null at its end. */
export async function findLedgers(
  tx: Database,
  { projectId, contactId, addresses }: Subject,
  after: string | null,
): Promise<{ last: string | null; found: ChangedLedger[] }> {
  const rows = await tx.rows<{ last: string; campaignId: string | null; sendSeq: number }>(sql`
    with page as materialized (
      select id, campaign_id, send_seq, contact_id, to_address from emails
      where project_id = ${projectId} and id > ${after ?? leastId} order by id limit ${rowsPerScan}),
    last as (select id from page order by id desc limit 1),
    found as (
      select distinct campaign_id, send_seq from page
      where campaign_id is not null and (contact_id = ${contactId} or to_address = any (${addresses}::text[])))
    select last.id as last, f.campaign_id as "campaignId", f.send_seq as "sendSeq" from last left join found f on true`);
  const found = rows.flatMap(({ campaignId, sendSeq }) =>
    campaignId === null ? [] : [{ campaignId, sendSeq, hashBefore: null, hashAfter: null }],
  );
  return { last: rows[0]?.last ?? null, found };
}

/** The hash of a ledger as it is now; null for one that is not final, whose hash nobody has seen. */
export async function hashOfLedger(db: Database, ledger: ChangedLedger): Promise<string | null> {
  const { campaignId, sendSeq } = ledger;
  const { em } = db.session();
  const campaign = await em.findOne(Campaign, { id: campaignId, sendSeq }, { fields: ['status'] });
  if (campaign === null || !finishedStatuses.has(campaign.status)) return null;
  // Of a part of a ledger nobody has a hash.
  if ((await em.count(CampaignLedgerSum, { campaignId, sendSeq })) > 0) return null;
  return (await em.count(CampaignSend, { campaignId, sendSeq, closed: true })) > 0 ? ledgerHash(db, ledger) : null;
}

/** Columns that members write by hand, and data of other contacts: they are searched and named in the certificate, but not changed. */
export const searched: Readonly<
  Record<string, { type: string; columns: readonly string[]; project?: string; id?: string }>
> = {
  templates: {
    type: 'template',
    columns: ['name', 'description', 'subject', 'body', 'from', 'from_name', 'reply_to', 'document'],
  },
  campaigns: {
    type: 'campaign',
    columns: ['name', 'description', 'subject', 'body', 'from', 'from_name', 'reply_to', 'document', 'audit_note'],
  },
  campaign_versions: {
    type: 'version of a campaign',
    columns: ['subject', 'body'],
    project: '(select c.project_id from campaigns c where c.id = campaign_id)',
    id: 'campaign_id',
  },
  saved_blocks: { type: 'block', columns: ['name', 'content'] },
  content_versions: { type: 'version', columns: ['content'], id: 'item_id' },
  brands: { type: 'brand', columns: ['kit'], id: 'project_id' },
  segments: { type: 'segment', columns: ['name', 'description'] },
  automations: { type: 'workflow', columns: ['name', 'description', 'trigger_config', 'event_name'] },
  automation_steps: {
    type: 'workflow step',
    columns: ['name', 'config', 'note'],
    project: '(select a.project_id from automations a where a.id = automation_id)',
  },
  automation_versions: {
    type: 'workflow version',
    columns: ['graph', 'notes'],
    project: '(select a.project_id from automations a where a.id = automation_id)',
  },
  suppression_rules: { type: 'suppression rule', columns: ['name', 'pattern'] },
  webhook_endpoints: { type: 'webhook endpoint', columns: ['url', 'description', 'disabled_reason'] },
  api_keys: { type: 'API key', columns: ['name'] },
  contact_views: { type: 'view of contacts', columns: ['name'] },
  contacts: { type: 'contact', columns: ['data'] },
};

const mostIds = 20;

/** Where the addresses still stand in what members wrote and in data of other contacts. */
export async function findMentions(db: Database, { projectId, pattern }: Subject): Promise<Mention[]> {
  if (pattern === null) return [];
  const mentions: Mention[] = [];
  for (const [table, { type, columns, project = 'project_id', id = 'id' }] of Object.entries(searched)) {
    const text = raw(`concat_ws(' ', ${columns.map((name) => `"${name}"`).join(', ')})`);
    const row = await db.row<{ count: number; ids: string[] }>(sql`
      select count(*)::int as count, coalesce((array_agg(${raw(id)}::text))[1:${raw(mostIds)}], '{}') as ids
      from ${raw(table)} where ${raw(project)} = ${projectId} and ${text} ~* ${pattern}`);
    if (row !== null && row.count > 0) mentions.push({ type, ...row });
  }
  return mentions;
}

const entriesPerPage = 100;

/** Takes the details out of entries of the audit log that name the contact. */
export async function redactAudit(
  tx: Database,
  { projectId, contactId, erasureId, pattern }: Subject,
): Promise<StepPage> {
  const names = sql`(target = ${contactId} and action not in ('contact.erased', 'contact.erasure_repeated')
    or coalesce(concat_ws(' ', target, before, after) ~* ${pattern}::text, false))`;
  const rows = await redactEntries(tx, projectId, { by: erasureId, target: contactId, which: names }, entriesPerPage);
  return { rows, after: rows === entriesPerPage ? erasureId : null };
}

/** Thrown to take back a transaction: mail of the contact is with the provider, or may be. */
export class StillLeaving extends Error {}

const unsent = (contactId: string) => sql`
  e.contact_id = ${contactId} and e.status in ('PENDING', 'SENDING') and e.sent_at is null and e.message_id is null`;

/**
 * Ends what is under way for the contact and removes it, all in one transaction: executions, mail that nobody has claimed, and the
 * contact with what only describes it. Answers the rows by step.
 * @throws StillLeaving while a claim has mail of the contact
 */
export async function settleContact(tx: Database, subject: Subject): Promise<Record<string, number>> {
  const { contactId } = subject;
  await lockMail(tx, contactId);
  if (await isLeaving(tx, contactId)) throw new StillLeaving();
  const mail = await dropMail(tx, contactId);
  const runs = await tx.count(sql`
    with runs as (delete from automation_runs where contact_id = ${contactId} returning 1),
    pending as (delete from automation_arrivals where contact_id = ${contactId} returning 1),
    entries as (delete from automation_entries where contact_id = ${contactId} returning 1)
    select from runs union all select from pending union all select from entries`);
  const contact = await removeContact(tx, subject);
  // A step of a workflow may have queued mail a moment before its execution was deleted.
  if ((await tx.row(sql`select from emails e where ${unsent(contactId)} limit 1`)) !== null) throw new StillLeaving();
  return { mail, runs, ...contact };
}

// Campaign, then its send, as everywhere: nobody claims mail whose row, or whose send, is locked.
async function lockMail(tx: Database, contactId: string): Promise<void> {
  const campaigns = await tx.rows<{ id: string }>(sql`
    select id from campaigns where id in (
      select e.campaign_id from emails e where ${unsent(contactId)} and e.campaign_id is not null)
    order by id for no key update`);
  await tx.rows(sql`
    select from email_queue where email_id in (select e.id from emails e where ${unsent(contactId)}) order by email_id for update`);
  const sends = { campaignId: campaigns.map(({ id }) => id) };
  await tx.em.find(CampaignSend, sends, {
    fields: ['sendSeq'],
    orderBy: { campaignId: 'asc', sendSeq: 'asc' },
    lockMode: LockMode.PESSIMISTIC_WRITE,
    disableIdentityMap: true,
  });
}

async function isLeaving(tx: Database, contactId: string): Promise<boolean> {
  const found = await tx.row(sql`
    select from emails e where ${unsent(contactId)} and (
      exists (select from email_queue q where q.email_id = e.id and q.claim_id is not null)
      or exists (select from campaign_claims k
        where k.campaign_id = e.campaign_id and k.send_seq = e.send_seq and not k.settled
          and (k.holder is not null or k.handed_at is not null) and ${raw(isOfClaim('e', 'k'))}))
    limit 1`);
  return found !== null;
}

async function dropMail(tx: Database, contactId: string): Promise<number> {
  const row = await tx.row<{ count: number }>(sql`
    with gone as (
      delete from email_queue q using emails e where e.id = q.email_id and ${unsent(contactId)} returning 1),
    cancelled as (
      update emails e set status = 'CANCELLED', reason = '{"code": "cancelled"}', updated_at = now()
      where ${unsent(contactId)} and (select count(*) from gone) >= 0
      returning ${raw(endedColumns)}, e.send_seq),
    ${raw(usageMoved('cancelled', 'false', 'true'))},
    hours_counted as (${countingUnsent('cancelled', 'CANCELLED')}),
    counted as (${countingSkipped('cancelled')})
    select count(*)::int as count from cancelled`);
  return row?.count ?? 0;
}

async function removeContact(tx: Database, subject: Subject): Promise<Record<string, number>> {
  const { projectId, contactId, addresses, keepSuppressed } = subject;
  const emails = keepSuppressed ? addresses : [];
  const segments = await tx.count(sql`
    delete from segment_memberships where contact_id in (
      select id from contacts where project_id = ${projectId} and (id = ${contactId} or email = any (${emails}::text[])))`);
  // The rows of its mail and events stay, emptied (forget_contacts.sql).
  await setErasing(tx, 'on');
  const contact = await tx.em.nativeDelete(Contact, { projectId, id: contactId });
  await setErasing(tx, '');
  const late = await removeLate(tx, subject);
  return { contact: contact + late.contacts, trash: late.trash, segments };
}

function setErasing(tx: Database, value: 'on' | ''): Promise<unknown> {
  return tx.row(sql`select set_config('fernpost.erasing', ${value}, true)`);
}

/**
 * Removes the contact from the trash, and contacts that came by a request which was under way: with `keepSuppressed` nobody may store the
 * address. Returns how many of each.
 */
export async function removeLate(
  tx: Database,
  { projectId, contactId, addresses, keepSuppressed }: Subject,
): Promise<{ contacts: number; trash: number }> {
  const emails = keepSuppressed ? addresses : [];
  const removed = await tx.row<{ contacts: number; trash: number }>(sql`
    with trashed as (
      delete from contacts_trash where project_id = ${projectId} and (id = ${contactId} or email = any (${emails}::text[])) returning 1),
    gone as (
      delete from contacts where project_id = ${projectId} and (id = ${contactId} or email = any (${emails}::text[])) returning 1)
    select (select count(*) from gone)::int as contacts, (select count(*) from trashed)::int as trash`);
  return removed ?? { contacts: 0, trash: 0 };
}
