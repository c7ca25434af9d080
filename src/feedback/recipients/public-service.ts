import { createHmac } from 'node:crypto';
import { leftBefore } from '../../contacts/events/queries.ts';
import { contactsAndTrash } from '../../contacts/trash-queries.ts';
import { contactsWritten, writingAs } from '../../contacts/write.ts';
import { forbidden, notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { networkOf } from '../../lib/network.ts';
import { chooseLanguage } from '../../lib/texts/pages.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { verifyLinkToken } from '../../templates/content/links.ts';

/** A recipient, as their own pages know them. */
interface PublicContactRow {
  id: string;
  projectId: string;
  email: string;
  subscribed: boolean;
  /** `locale` of the contact's data, or null. */
  locale: string | null;
  projectName: string;
  /** The language of the project. */
  projectLanguage: string;
}

/** A contact by its id alone, whatever its project, or null. */
function findPublicContact(db: Database, id: string): Promise<PublicContactRow | null> {
  return db.row(sql`
    select c.id, c.project_id as "projectId", c.email, c.subscribed, p.name as "projectName",
      p.language as "projectLanguage",
      case jsonb_typeof(c.data -> 'locale') when 'string' then c.data ->> 'locale' end as locale
    from ${contactsAndTrash} c join projects p on p.id = c.project_id where c.id = ${id}`);
}

/**
 * Subscribes or unsubscribes a contact who asked for it; a change is recorded as an event in the same statement, tied to
 * the mail it came from when that mail is the contact's. A contact in the trash has left, or come back, when it is restored. Answers
 * whether anything changed.
 */
async function changeOwnSubscription(
  db: Database,
  contactId: string,
  subscribed: boolean,
  eventId: string,
  emailId: string | null,
): Promise<boolean> {
  const writing = { ...writingAs(db, 'page', emailId), limitedBy: sql`(select limited_by from mail)` };
  const row = sql`jsonb_build_array(jsonb_build_object('id', ${contactId}::uuid, 'subscribed', ${subscribed}::boolean,
    'flipId', ${eventId}::uuid, 'flipEmailId', (select id from mail)))`;
  // A recipient counts once for each campaign, however often they leave and come back.
  const changed = await db.row(sql`
    with mail as (
      select id, campaign_id, limited_by from emails where id = ${emailId}::uuid and contact_id = ${contactId}::uuid),
    changed as materialized (
      select w.id, w.subscribed
      from (select project_id from contacts where id = ${contactId}::uuid) owner, ${contactsWritten(raw('owner.project_id'), row, writing)} w
      where w.changed),
    trashed as (
      update contacts_trash set subscribed = ${subscribed}
      where id = ${contactId}::uuid and subscribed <> ${subscribed} returning 1),
    counted as (
      update campaigns set unsubscribed_count = unsubscribed_count + 1
      from changed, mail
      where not changed.subscribed and campaigns.id = mail.campaign_id and not exists (
        ${raw(leftBefore('changed.id', 'mail.campaign_id'))}))
    select 1 from changed union all select 1 from trashed`);
  return changed !== null;
}

/** Requests that one visitor may make within `windowSeconds` (docs/contract/platform.md#11-2). */
export const visitsPerWindow = 60;
const windowSeconds = 60;

const window = raw(`interval '${windowSeconds} seconds'`);

/**
 * Counts a request of a visitor who has no key, over all processes. Answers null when it may be served, else the seconds
 * after which to come again. Addresses are kept as a keyed hash; one of IPv6 stands for its network of 64 bits, all of
 * which one household has.
 */
export async function countVisit(db: Database, address: string, secret: string): Promise<number | null> {
  const row = await db.row<{ used: number; seconds: number }>(sql`
    insert into recipient_visits as v (visitor, started_at, used) values (${visitorOf(address, secret)}, clock_timestamp(), 1)
    on conflict (visitor) do update set
      started_at = case when v.started_at <= clock_timestamp() - ${window} then clock_timestamp() else v.started_at end,
      used = case when v.started_at <= clock_timestamp() - ${window} then 1 else least(v.used + 1, ${visitsPerWindow + 1}) end
    returning used, greatest(1, ceil(extract(epoch from started_at + ${window} - clock_timestamp())))::int as seconds`);
  return row !== null && row.used > visitsPerWindow ? row.seconds : null;
}

/** Removes what is known of visitors whose window is over. Answers how many. */
export function removeOldVisits(db: Database, limit: number): Promise<number> {
  return db.count(sql`
    delete from recipient_visits where visitor in (
      select visitor from recipient_visits where started_at < now() - ${window} limit ${limit} for update skip locked)`);
}

function visitorOf(address: string, secret: string): string {
  return createHmac('sha256', secret)
    .update(`visitor:${networkOf(address)}`)
    .digest('base64url')
    .slice(0, 22);
}

/** The parameters that a link to a recipient's pages carries beside the contact's ID. */
export interface LinkParameters {
  /** The mail the recipient came from; counts only when it is theirs. */
  e?: string | undefined;
  /** The signature that proves that we made the link. */
  t?: string | undefined;
}

/** The settings that decide whether a link is one of ours. */
export interface LinkTrust {
  LINK_SECRET: string;
  /** Secrets of links that are accepted, LINK_SECRET first. */
  linkSecrets: readonly string[];
  /** Accepts links without a signature for everything. */
  RECIPIENT_LINKS_UNSIGNED: boolean;
}

/** Whether a link is one of ours, as far as `t` tells. */
export function isOurLink(contactId: string, { t }: LinkParameters, trust: LinkTrust): boolean {
  return trust.RECIPIENT_LINKS_UNSIGNED || trust.linkSecrets.some((secret) => verifyLinkToken(contactId, t, secret));
}

/**
 * A contact as their own pages show it (docs/contract/core.md#3-9). Ids of contacts are no secrets, so that the address is
 * returned only to holders of a signed link; others see `b…@example.test` (docs/contract/platform.md#11-2).
 * @throws 404 CONTACT_NOT_FOUND
 */
export async function publicContact(db: Database, id: string, link: LinkParameters, trust: LinkTrust) {
  const contact = await known(db, id);
  return { ...shown(contact, link, trust), language: languageOf(contact) };
}

/** The language in which a contact is spoken to. */
export function languageOf({ locale, projectLanguage }: PublicContactRow) {
  return chooseLanguage(locale, projectLanguage);
}

/** A contact by their id, whatever their project; null when there is none. */
export async function recipient(db: Database, id: string): Promise<PublicContactRow | null> {
  return isUuid(id) ? findPublicContact(db, id) : null;
}

/**
 * Subscribes or unsubscribes a contact from their own pages (docs/contract/core.md#3-9). Leaving is never refused; coming back
 * needs a signed link, for anybody may know an id.
 * @throws 404 CONTACT_NOT_FOUND, 403 for a subscription without a signed link
 */
export async function setOwnSubscription(
  db: Database,
  id: string,
  subscribed: boolean,
  link: LinkParameters,
  trust: LinkTrust,
) {
  const contact = await known(db, id);
  if (subscribed && !isOurLink(contact.id, link, trust))
    throw forbidden(
      'Only a link in one of your emails can subscribe you again',
      undefined,
      'Pass on `t`, and `e`, of the link that the recipient followed.',
    );
  await changeOwnSubscription(db, contact.id, subscribed, newId(), mailOf(link));
  return shown({ ...contact, subscribed }, link, trust);
}

/**
 * Unsubscribes whoever an id belongs to, and does nothing for ids of nobody: the answer of a mail client's button and of a
 * link without a signature must not tell which contacts there are.
 */
export async function leaveQuietly(db: Database, id: string, link: LinkParameters): Promise<void> {
  if (isUuid(id)) await changeOwnSubscription(db, id, false, newId(), mailOf(link));
}

function mailOf({ e }: LinkParameters): string | null {
  return e !== undefined && isUuid(e) ? e : null;
}

function shown(contact: PublicContactRow, link: LinkParameters, trust: LinkTrust) {
  const { id, email, subscribed } = contact;
  return { id, email: isOurLink(id, link, trust) ? email : masked(email), subscribed };
}

function masked(email: string): string {
  const [first = ''] = email;
  return `${first}…${email.slice(email.lastIndexOf('@'))}`;
}

async function known(db: Database, id: string): Promise<PublicContactRow> {
  const contact = await findPublicContact(db, id);
  if (contact === null) throw notFound('contact', id);
  return contact;
}
