import { type Database, raw, sql } from '../../core/database/sql.ts';
import { usageMoved } from '../../platform/billing/index.ts';
import { countingUnsent, endedColumns } from '../../sending/ledger/index.ts';
import type { Subject } from './subject.ts';

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
  const runs = await tx.count(sql`delete from automation_runs where contact_id = ${contactId}`);
  const arrivals = await tx.count(sql`delete from automation_arrivals where contact_id = ${contactId}`);
  const entries = await tx.count(sql`delete from automation_entries where contact_id = ${contactId}`);
  const contact = await removeContact(tx, subject);
  // A step of a workflow may have queued mail a moment before its execution was deleted.
  if ((await tx.row(sql`select from emails e where ${unsent(contactId)} limit 1`)) !== null) throw new StillLeaving();
  return { mail, runs: runs + arrivals + entries, ...contact };
}

// Campaign, then its send, as everywhere: nobody claims mail whose row, or whose send, is locked.
async function lockMail(tx: Database, contactId: string): Promise<void> {
  const ids = sql`select e.campaign_id from emails e where ${unsent(contactId)} and e.campaign_id is not null`;
  await tx.rows(sql`select from campaigns where id in (${ids}) order by id for no key update`);
  await tx.rows(sql`
    select from email_queue where email_id in (select e.id from emails e where ${unsent(contactId)}) order by email_id for update`);
  await tx.rows(
    sql`select from campaign_sends where campaign_id in (${ids}) order by campaign_id, send_seq for update`,
  );
}

async function isLeaving(tx: Database, contactId: string): Promise<boolean> {
  const found = await tx.row(sql`
    select from emails e where ${unsent(contactId)} and (
      exists (select from email_queue q where q.email_id = e.id and q.claim_id is not null)
      or exists (select from campaign_claims k
        where k.campaign_id = e.campaign_id and k.send_seq = e.send_seq and not k.settled
          and (k.holder is not null or k.handed_at is not null) and e.contact_id <= k.through_contact
          and (k.after_contact is null or e.contact_id > k.after_contact)))
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
    counted as (
      update campaigns c set skipped_count = c.skipped_count + n.rows
      from (select campaign_id, send_seq, count(*)::int as rows from cancelled where campaign_id is not null group by 1, 2) n
      where c.id = n.campaign_id and c.send_seq = n.send_seq and (select count(*) from usage_moved) >= 0)
    select count(*)::int as count from cancelled`);
  return row?.count ?? 0;
}

// With keepSuppressed nobody may store the address, so that whoever has it came by a request that was under way.
async function removeContact(tx: Database, subject: Subject): Promise<Record<string, number>> {
  const { projectId, contactId, addresses, keepSuppressed } = subject;
  const emails = keepSuppressed ? addresses : [];
  const whose = sql`project_id = ${projectId} and (id = ${contactId} or email = any (${emails}::text[]))`;
  const segments = await tx.count(sql`
    delete from segment_memberships where contact_id in (select id from contacts where ${whose})`);
  const trash = await tx.count(sql`delete from contacts_trash where ${whose}`);
  await tx.row(sql`select set_config('fernpost.erasing', 'on', true)`);
  const contacts = await tx.count(sql`delete from contacts where project_id = ${projectId} and id = ${contactId}`);
  await tx.row(sql`select set_config('fernpost.erasing', '', true)`);
  const again = await tx.count(sql`delete from contacts where ${whose}`);
  return { contact: contacts + again, trash, segments };
}
