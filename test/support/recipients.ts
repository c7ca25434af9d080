import { newId } from '../../src/lib/ids.ts';
import type { TestDatabase } from './database.ts';

/** A mail of a campaign to a contact, as it stands in the ledger once it has been handed over. */
export async function aCampaignMail(
  { db }: TestDatabase,
  projectId: string,
  contactId: string,
  campaignId = newId(),
): Promise<{ mail: string; campaign: string }> {
  const mail = newId();
  await db.count(
    `insert into campaigns (id, project_id, name, subject, body, "from", audience_type)
     values ($1, $2, 'Spring', 's', 'b', 'hello@acme.test', 'ALL') on conflict do nothing`,
    [campaignId, projectId],
  );
  await db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq)
     select $1, $2, $3, 'ada@example.com', 'hello@acme.test', 'CAMPAIGN', 'MARKETING', $4,
       (select count(*) from emails where campaign_id = $4)`,
    [mail, projectId, contactId, campaignId],
  );
  return { mail, campaign: campaignId };
}

/** How many recipients have left by the mail of a campaign. */
export async function optOutsOf({ db }: TestDatabase, campaignId: string): Promise<number | undefined> {
  return (await db.row<{ n: number }>('select unsubscribed_count as n from campaigns where id = $1', [campaignId]))?.n;
}

/** The changes of a contact's subscription, in order, each with the mail it came from. */
export function flipsOf({ db }: TestDatabase, contactId: string): Promise<{ name: string; mail: string | null }[]> {
  return db.rows<{ name: string; mail: string | null }>(
    `select name, email_id as mail from events where contact_id = $1 order by created_at, id`,
    [contactId],
  );
}
