import { isDeepStrictEqual } from 'node:util';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import type { MessageClass } from '../../lib/enums.ts';
import { leastId } from '../../lib/ids.ts';
import { heldAgain, type QuietFacts } from '../../mail/emails/schedule.ts';
import { bucketCtes, tokensReturned } from '../../mail/engine/throttle.ts';
import { holdQueued } from '../../mail/queue/claims.ts';
import { lockProject, Project } from '../../projects/queries.ts';
import { databaseNow } from '../../store/changes.ts';
import { isoText } from '../../store/columns.ts';
import type { Outbox } from '../../store/outbox/dispatcher.ts';
import { enqueueAll } from '../../store/outbox/queries.ts';
import { byIndexes, type Database, type Query, raw, sql } from '../../store/sql.ts';
import { wakeCampaign } from '../lifecycle/begin.ts';
import { lockCampaignSend } from '../state.ts';
import type { SendKey } from './ledger.ts';

/** Held recipients are due at whole multiples of this, in milliseconds, so that those of one moment make a claim worth a call. */
export const slotMs = 10_000;
const slotOf = (instant: number) => Math.floor(instant / slotMs) * slotMs;

/** A recipient who is in quiet hours, and the instant at which the message may leave, in epoch milliseconds. */
export interface HeldRecipient {
  contactId: string;
  until: number;
}

/**
 * Takes recipients who are in quiet hours out of the claim that its `holder` has, and gives its tokens back: from now on they wait in
 * `campaign_held_contacts`, and whoever claims them once they are due makes a new claim. Without a claim those who wait already wait until
 * another instant; the send is locked then, so that nobody claims them meanwhile. Safe to repeat; changes nothing where the attempt has lost its claim.
 */
export async function holdRecipients(
  db: Database,
  { projectId, campaignId, sendSeq }: SendKey,
  held: readonly HeldRecipient[],
  claim: { id: string; holder: string; rate: number } | null,
): Promise<void> {
  const contacts = held.map(({ contactId }) => contactId);
  const slots = held.map(({ until }) => new Date(slotOf(until)).toISOString());
  // Each row is looked for by its contact: to the statistics a new campaign is one row, and all of its rows would be compared with each contact.
  // The send comes before the bucket, as in claims, which lock both: the foreign key of what is written would lock it last.
  const statement = sql`
    with sending as materialized (
      select from campaign_sends where campaign_id = ${campaignId}::uuid and send_seq = ${sendSeq}::int for key share),
    ${bucketCtes(projectId, claim?.rate ?? 0, { when: raw(claim === null ? 'false' : 'exists (select from sending)') })},
    claim as materialized (
      select id from campaign_claims where id = ${claim?.id ?? null} and holder = ${claim?.holder ?? null} and not settled for update),
    given as (
      select * from unnest(${contacts}::uuid[], ${slots}::timestamptz[]) as g (contact_id, due_at)
      where exists (select from claim) or ${raw(String(claim === null))} and (
        select true from campaign_held_contacts h
        where h.campaign_id = ${campaignId}::uuid and h.send_seq = ${sendSeq}::int and h.contact_id = g.contact_id limit 1)),
    written as (
      insert into campaign_held_contacts as h (campaign_id, send_seq, contact_id, due_at)
      select ${campaignId}::uuid, ${sendSeq}::int, contact_id, due_at from given
      on conflict (campaign_id, send_seq, contact_id) do update set due_at = excluded.due_at where h.due_at <> excluded.due_at
      returning contact_id),
    released as (
      update campaign_claims k set contacts = array(
        select member from unnest(k.contacts) member where member <> all(${contacts}::uuid[]))
      where k.id = (select id from claim) and k.contacts is not null),
    ${tokensReturned('(select count(*) from written)')}
    update emails e set held_until = g.due_at
    from given g cross join lateral (
      select id from emails where campaign_id = ${campaignId}::uuid and send_seq = ${sendSeq}::int and contact_id = g.contact_id limit 1) m
    where e.id = m.id and e.sent_at is null and e.message_id is null`;
  await db.transaction((tx) => tx.count(statement), byIndexes);
}

/** The recipients of a send who wait for the end of quiet hours. */
export interface HeldRecipients {
  contacts: number;
  /** When the first of them may be written to: an ISO instant, and milliseconds until then, 0 where it is past. */
  until: string;
  waitMs: number;
}

/** SQL: `HeldRecipients` of a send as JSON, by expressions of its campaign and its number; null where nobody waits. */
export function heldSql(campaign: string, sendSeq: string): Query {
  return raw(`(select jsonb_build_object('contacts', count(*), 'until', ${isoText('min(h.due_at)')},
      'waitMs', greatest(0, ceil(1000 * extract(epoch from min(h.due_at) - clock_timestamp()))))
    from campaign_held_contacts h where h.campaign_id = ${campaign} and h.send_seq = ${sendSeq} having count(*) > 0)`);
}

/** Returns the recipients of campaigns who wait for the end of quiet hours, by campaign. */
export async function heldRecipientsOf(db: Database, ids: readonly string[]): Promise<Map<string, HeldRecipients>> {
  if (ids.length === 0) return new Map();
  const rows = await db.rows<{ id: string; held: HeldRecipients | null }>(sql`
    select c.id, ${heldSql('c.id', 'c.send_seq')} as held from campaigns c where c.id = any(${ids}::uuid[])`);
  return new Map(rows.flatMap(({ id, held }) => (held === null ? [] : [[id, held]])));
}

/** SQL: whether the ledger row `row` belongs to the claim `claim`, whatever its verdict. Whoever waits belongs to none. */
export function isOfClaim(row: string, claim: string): string {
  return `(case when ${claim}.contacts is not null then ${row}.contact_id = any (${claim}.contacts)
    else ${row}.held_until is null and ${row}.contact_id <= ${claim}.through_contact
      and (${claim}.after_contact is null or ${row}.contact_id > ${claim}.after_contact) end)`;
}

/** Why a send stands still, as a sentence. */
export function quietSentence({ contacts, until }: Pick<HeldRecipients, 'contacts' | 'until'>): string {
  const who = contacts === 1 ? '1 contact' : `${contacts.toLocaleString('en-US')} contacts`;
  return `On hold until ${until} for ${who} (quiet hours)`;
}

/**
 * Marks a project for `followQuietHours` where its hours or its time zone are not `facts` any more, by which a claim has just held recipients:
 * the change may have been followed before they were there to be moved.
 */
export async function noteChangedHours(db: Database, projectId: string, facts: QuietFacts): Promise<void> {
  const { em } = db.session();
  const now = await quietFactsOf(em, projectId);
  if (now !== null && !isDeepStrictEqual(now, facts))
    await em.nativeUpdate(Project, { id: projectId }, { quietChangedAt: await databaseNow(db) });
}

/** The hours of a project, and the time zone that they go by, as they stand in its row. */
async function quietFactsOf(em: Database['em'], projectId: string): Promise<QuietFacts | null> {
  const options = { fields: ['quietHours', 'timeZone'], disableIdentityMap: true } as const;
  const project = await em.findOne(Project, { id: projectId }, options);
  return project && { quietHours: project.quietHours ?? null, timeZone: project.timeZone ?? null };
}

const atOnce = 1000;

/** What moving held mail needs. */
interface HeldDeps {
  db: Database;
  outbox: Pick<Outbox, 'dispatchSoon'>;
  stop: AbortSignal;
}

/**
 * Asks again until when mail waits in projects whose quiet hours, or time zone, have changed, of workflows and of campaigns. What may leave by now does so within
 * `spreadMs`, so that it holds up no other mail. Every page is a transaction of its own, and the mark on the project stays until all were seen, so
 * that another worker begins again where this one dies. A project that another worker has just now is left to it. What fails for one project does not
 * keep the others waiting: it is thrown at the end. Returns how many projects were finished.
 */
export async function followQuietHours(deps: HeldDeps): Promise<number> {
  const marked = await deps.db
    .session()
    .em.find(Project, { quietChangedAt: { $ne: null } }, { fields: ['quietChangedAt'] });
  let finished = 0;
  const failures: unknown[] = [];
  for (const { id, quietChangedAt } of marked) {
    try {
      if (quietChangedAt && (await followChange(deps, id, quietChangedAt))) finished += 1;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return finished;
}

/** Follows the change of one project; false where the process stops first, another has the project, or the hours changed again meanwhile. */
async function followChange({ db, outbox, stop }: HeldDeps, projectId: string, quietChangedAt: Date): Promise<boolean> {
  const sends = new Map<string, SendKey>();
  let place: Place | null = beginning;
  while (place !== null) {
    if (stop.aborted) return false;
    const after: Place = place;
    const next: Place | null | 'taken' = await db.transaction(
      (tx) => decidePage(tx, { projectId, after, sends }),
      byIndexes,
    );
    if (next === 'taken') return false;
    place = next;
  }
  const [done, tickets] = await db.transaction(async (tx) => {
    const cleared = await tx.em.nativeUpdate(Project, { id: projectId, quietChangedAt }, { quietChangedAt: null });
    const wakes = [...sends.values()].map(({ campaignId, sendSeq }) => wakeCampaign(campaignId, sendSeq));
    return [cleared, await enqueueAll(tx, wakes)] as const;
  });
  outbox.dispatchSoon(...tickets);
  return done > 0;
}

/** A place in the order in which held mail is due. */
interface Place {
  at: string;
  id: string;
}

const beginning: Place = { at: '-infinity', id: leastId };

interface HeldMail extends Place {
  emailId: string | null;
  campaignId: string | null;
  sendSeq: number | null;
  contactId: string;
  /** Null where the contact was deleted meanwhile. */
  data: JsonObjectValue | null;
  messageClass: MessageClass;
  until: number;
  now: number;
}

// The project is locked, so that no change of its hours comes between reading and writing. A claim meanwhile finds the page before or after, and
// one that read the hours before their change marks the project again (`noteChangedHours`). Nobody begins while another worker is at a page. One who
// begins between two pages does no harm: mail that was moved stays where it is (`heldAgain`).
async function decidePage(
  tx: Database,
  { projectId, after, sends }: { projectId: string; after: Place; sends: Map<string, SendKey> },
): Promise<Place | null | 'taken'> {
  if (!(await lockProject(tx, projectId, after !== beginning))) return 'taken';
  const facts = (await quietFactsOf(tx.em, projectId)) ?? { quietHours: null, timeZone: null };
  const page = await heldPage(tx, projectId, after);
  const other = page.flatMap((mail) => {
    const { contactId, data, messageClass, until, now } = mail;
    // It may have left already, in a database that was set back: see match_restored_mail.sql.
    if (data === null || until <= now) return [];
    const again = heldAgain(facts, messageClass, { id: contactId, data }, { now, until });
    return again === until || (mail.campaignId !== null && slotOf(again) === until) ? [] : [{ ...mail, again }];
  });
  const queued = other.flatMap(({ emailId, again, until }) =>
    emailId === null ? [] : [{ emailId, until: again, was: until }],
  );
  if (queued.length > 0) await holdQueued(tx, projectId, queued, null);
  for (const { campaignId, sendSeq } of page)
    if (campaignId !== null && sendSeq !== null) sends.set(campaignId, { projectId, campaignId, sendSeq });
  const byCampaign = [...Map.groupBy(other, ({ campaignId }) => campaignId ?? '')];
  for (const [campaignId, mails] of byCampaign.toSorted(([one], [another]) => (one < another ? -1 : 1))) {
    const send = sends.get(campaignId);
    if (send !== undefined && (await lockCampaignSend(tx, campaignId, send.sendSeq)))
      await holdRecipients(
        tx,
        send,
        mails.map(({ contactId, again }) => ({ contactId, until: again })),
        null,
      );
  }
  return page.length < atOnce ? null : (page.at(-1) ?? null);
}

// In the order of time by the index of each table; two campaigns may have one contact at one instant. What is moved to a later instant comes
// once more and stays as it is. Email that the provider has refused since is due when it may be tried again, which no change of hours moves.
function heldPage(tx: Database, projectId: string, { at, id }: Place): Promise<HeldMail[]> {
  return tx.rows<HeldMail>(sql`
    select w.*, w.due_at::text as at, c.data, (1000 * extract(epoch from w.due_at))::float8 as until,
      (1000 * extract(epoch from clock_timestamp()))::float8 as now
    from (
      (select q.due_at, q.email_id as id, q.email_id as "emailId", null::uuid as "campaignId", null::int as "sendSeq",
        e.contact_id as "contactId", e.message_class as "messageClass"
      from email_queue q join emails e on e.id = q.email_id
      where q.project_id = ${projectId} and q.claim_id is null and q.due_at > now() and (q.due_at, q.email_id) > (${at}::timestamptz, ${id}::uuid)
        and e.workflow_step_execution_id is not null and e.held_until = q.due_at
      order by q.due_at, q.email_id limit ${atOnce})
      union all
      (select h.due_at, h.contact_id, null, k.id, k.send_seq, h.contact_id, k.type
      from campaigns k cross join lateral (
        select * from campaign_held_contacts h
        where h.campaign_id = k.id and h.send_seq = k.send_seq and (h.due_at, h.contact_id) > (${at}::timestamptz, ${id}::uuid)
        order by h.due_at, h.contact_id limit ${atOnce}) h
      where k.project_id = ${projectId} and k.status = 'SENDING')
      order by 1, 2 fetch first ${raw(atOnce)} rows with ties) w left join contacts c on c.id = w."contactId"
    order by w.due_at, w.id`);
}
