import { type LedgerVerdict, verdictSql } from '../../campaigns/results/verdicts.ts';
import type { EarlierRecipients } from '../../campaigns/schema.ts';
import { Contact } from '../../contacts/entity.ts';
import { getContactAt } from '../../contacts/history-service.ts';
import { holdoutOf } from '../../contacts/suppressions/matching.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import type { CampaignStatus } from '../../lib/enums.ts';
import { AppError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { type Reason, versionSql } from '../../mail/ledger/reasons.ts';
import type { MailStatus } from '../../mail/status.ts';
import { databaseNow } from '../../store/changes.ts';
import { isoInstant, isoText } from '../../store/columns.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';

const iso = (column: string) => raw(isoText(column));

/** The contact that is asked about. Instants are ISO. */
export interface ContactFacts {
  id: string;
  email: string;
  subscribed: boolean;
  data: JsonObjectValue;
  createdAt: string;
  updatedAt: string;
  /** When the contact was like this. */
  readAt: string;
  /** Whether it is different now. */
  isFormer: boolean;
  /** Whether it is in the control group of the project now. */
  isHeldOut: boolean;
}

/** The contact of an id or an address, or null. */
export async function contactFacts(db: Database, projectId: string, contact: string): Promise<ContactFacts | null> {
  const idOrEmail = contact.toLowerCase();
  const which = isUuid(contact) ? { id: idOrEmail } : { email: idOrEmail };
  const row = await db.session().em.findOne(Contact, { projectId, ...which });
  if (row === null) return null;
  const { id, email, subscribed, data, createdAt, updatedAt } = row;
  return {
    ...{ id, email, subscribed, data: data as JsonObjectValue, isFormer: false },
    ...{ createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() },
    readAt: (await databaseNow(db)).toISOString(),
    isHeldOut: (await holdoutOf(db, projectId, id)).heldOut,
  };
}

/** The contact as it was at an instant; as it is now where its history does not reach back so far. */
export async function contactAsOf(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  at: string,
  keptDays: number,
): Promise<ContactFacts> {
  if (contact.updatedAt <= at) return contact;
  try {
    const { email, subscribed, data, updatedAt } = await getContactAt(db, projectId, contact.id, at, keptDays);
    return { ...contact, email, subscribed, data: data ?? {}, updatedAt, readAt: at, isFormer: true };
  } catch (error) {
    if (error instanceof AppError) return contact;
    throw error;
  }
}

/** A campaign with its current send. */
export interface CampaignFacts {
  id: string;
  name: string;
  status: CampaignStatus;
  type: 'MARKETING' | 'TRANSACTIONAL' | 'HEADLESS';
  audienceType: 'ALL' | 'SEGMENT' | 'FILTERED';
  audienceCondition: unknown;
  segment: { id: string; name: string; type: string; condition: unknown } | null;
  resendOf: string | null;
  resendSeq: number | null;
  /** Set on a correction: which recipients of the campaign in `resendOf` it goes to. */
  correction: EarlierRecipients | null;
  sendSeq: number;
  scheduledFor: string | null;
  sentAt: string | null;
  cancelledAt: string | null;
  /** Whether everybody in its audience has a row in the ledger. */
  expanded: boolean;
  /** Whether rows of its ledger are no longer kept because of their age. */
  isPartlyKept: boolean;
}

/** A campaign of the project, or null. */
export function findCampaign(db: Database, projectId: string, id: string): Promise<CampaignFacts | null> {
  return db.row(sql`
    select c.id, c.name, c.status, c.type, c.audience_type as "audienceType", c.audience_condition as "audienceCondition",
      case when s.id is not null then
        jsonb_build_object('id', s.id, 'name', s.name, 'type', s.type, 'condition', s.condition) end as segment,
      c.resend_of as "resendOf", c.resend_seq as "resendSeq", c.correction, c.send_seq as "sendSeq",
      ${iso('c.scheduled_for')} as "scheduledFor", ${iso('c.sent_at')} as "sentAt", ${iso('c.cancelled_at')} as "cancelledAt",
      coalesce(n.expanded, false) as expanded,
      exists (select from campaign_ledger_sums l where l.campaign_id = c.id and l.send_seq = c.send_seq) as "isPartlyKept"
    from campaigns c left join campaign_sends n on n.campaign_id = c.id and n.send_seq = c.send_seq
      left join segments s on s.id = c.segment_id and s.project_id = c.project_id
    where c.project_id = ${projectId} and c.id = ${id}`);
}

/**
 * The review that the campaign's current send is bound to, where the contact was not among the reviewed; null else. `at` is when
 * it ended (ISO), null once its report is no longer kept.
 */
export function missedReview(
  db: Database,
  campaign: Pick<CampaignFacts, 'id' | 'sendSeq'>,
  contactId: string,
): Promise<{ at: string | null } | null> {
  // Once the audience is frozen everybody who was reviewed is in the ledger; before, only the rows of the review say who was.
  return db.row(sql`
    select ${iso('r.finished_at')} as at
    from campaign_sends s left join dry_runs r on r.id = s.review_id
    where s.campaign_id = ${campaign.id} and s.send_seq = ${campaign.sendSeq} and s.review_id is not null and s.drift = 'none'
      and (s.expanded or r.expires_at > now())
      and not exists (select from dry_run_rows d where d.dry_run_id = s.review_id and d.contact_id = ${contactId})`);
}

/** A mail of the ledger. */
export interface ExplainedMail {
  id: string;
  contactId: string;
  to: string;
  status: MailStatus;
  campaignId: string | null;
  /** Whether its campaign is paused. */
  isPaused: boolean;
  /** The canary that holds it back, with the end of its hold (ISO), null before that begins; null for none. */
  canary: { until: string | null } | null;
  verdict: LedgerVerdict;
  /** The version of the campaign's content that it carries; null for one that was not handed over. */
  version: number | null;
  /** Whether that content was replaced during the send. */
  isRevised: boolean;
  reason: Reason | null;
  reasonText: string | null;
  rule: { ruleId: string; name: string; kind: string; pattern: string } | null;
  provider: string | null;
  attempts: number | null;
  /** The response of the provider to the latest of them. */
  lastRefusal: string | null;
  isClaimed: boolean;
  dueAt: string | null;
  /** The end of the quiet hours that held it; null where none did. */
  quietUntil: string | null;
  /** Whether that is ahead. */
  isQuiet: boolean;
  createdAt: string;
  updatedAt: string;
  sentAt: string | null;
  deliveredAt: string | null;
  openedAt: string | null;
  clickedAt: string | null;
  bouncedAt: string | null;
  complainedAt: string | null;
}

/** Which mail is asked about: that of a send, of a step, of an ID, or the latest that was sent to the contact up to an instant. */
type MailOf =
  | { campaignId: string; sendSeq: number | null; contactId: string }
  | { stepRunId: string }
  | { emailId: string; contactId: string }
  | { contactId: string; until: string };

// Each is found by an index of its own.
function isMailOf(of: MailOf): Query {
  if ('campaignId' in of)
    return sql`e.campaign_id = ${of.campaignId} and e.send_seq = ${of.sendSeq} and e.contact_id = ${of.contactId}`;
  if ('stepRunId' in of) return sql`e.workflow_step_execution_id = ${of.stepRunId}`;
  if ('emailId' in of) return sql`e.id = ${of.emailId} and e.contact_id = ${of.contactId}`;
  return sql`e.contact_id = ${of.contactId} and e.created_at <= ${of.until}::timestamptz and e.source_type <> 'INBOUND'`;
}

/** Returns the newest such mail of the project, or null. */
export function findMail(db: Database, projectId: string, of: MailOf): Promise<ExplainedMail | null> {
  return db.row(sql`
    select e.id, e.contact_id as "contactId", e.to_address as "to", e.status, e.campaign_id as "campaignId",
      exists (select from campaigns k where k.id = e.campaign_id and k.paused_at is not null) as "isPaused",
      (select jsonb_build_object('until', ${iso('k.held_until')}) from campaign_canaries k
        where k.campaign_id = e.campaign_id and k.send_seq = e.send_seq and k.state in ('WAITING', 'SENDING', 'HOLDING')
          and k.released_at is null and not exists (select from campaign_canary_contacts m
            where m.campaign_id = k.campaign_id and m.send_seq = k.send_seq and m.contact_id = e.contact_id)) as canary,
      ${raw(verdictSql('e'))} as verdict,
      ${raw(versionSql('e'))} as version, exists (select from campaign_versions v
        where v.campaign_id = e.campaign_id and v.send_seq = e.send_seq) as "isRevised",
      e.reason, mail_reason_text(e.reason) as "reasonText", e.suppression as rule, e.provider, q.attempts,
      q.last_refusal as "lastRefusal",
      case when coalesce(e.campaign_id, e.workflow_execution_id) is not null then ${iso('e.held_until')} end as "quietUntil",
      coalesce(e.held_until > now(), false) as "isQuiet",
      q.claim_id is not null as "isClaimed", ${iso('q.due_at')} as "dueAt", ${iso('e.created_at')} as "createdAt",
      ${iso('e.updated_at')} as "updatedAt", ${iso('e.sent_at')} as "sentAt", ${iso('e.delivered_at')} as "deliveredAt",
      ${iso('e.opened_at')} as "openedAt", ${iso('e.clicked_at')} as "clickedAt", ${iso('e.bounced_at')} as "bouncedAt",
      ${iso('e.complained_at')} as "complainedAt"
    from emails e left join email_queue q on q.email_id = e.id
    where e.project_id = ${projectId} and ${isMailOf(of)} order by e.id desc limit 1`);
}

/** A change of a contact's subscription. */
export interface Flip {
  at: string;
  subscribed: boolean;
  reason: string | null;
  /** The mail it came from. */
  emailId: string | null;
}

/** The last change of subscription up to an instant, and the first after it. */
export async function flipsAround(
  db: Database,
  projectId: string,
  contactId: string,
  at: string,
): Promise<{ before: Flip | null; after: Flip | null }> {
  const flips = await db.rows<Flip & { isBefore: boolean }>(sql`
    select "isBefore", created_at::text as at, name = 'contact.subscribed' as subscribed, data ->> 'reason' as reason,
      email_id as "emailId"
    from (
      (select *, true as "isBefore" from events where contact_id = ${contactId} and project_id = ${projectId}
        and name in ('contact.subscribed', 'contact.unsubscribed') and created_at <= ${at}::timestamptz
        order by created_at desc, id desc limit 1)
      union all
      (select *, false from events where contact_id = ${contactId} and project_id = ${projectId}
        and name in ('contact.subscribed', 'contact.unsubscribed') and created_at > ${at}::timestamptz
        order by created_at, id limit 1)) flips`);
  const one = (isBefore: boolean): Flip | null => {
    const flip = flips.find((found) => found.isBefore === isBefore);
    if (flip === undefined) return null;
    const { subscribed, reason, emailId } = flip;
    return { at: isoInstant(flip.at), subscribed, reason, emailId };
  };
  return { before: one(true), after: one(false) };
}

/** When a contact was a member of a static segment, at an instant; null when it was not. */
export async function memberSince(
  db: Database,
  segmentId: string,
  contactId: string,
  at: string,
): Promise<string | null> {
  const row = await db.row<{ at: string }>(sql`
    select entered_at::text as at from segment_memberships
    where segment_id = ${segmentId} and contact_id = ${contactId} and entered_at <= ${at}::timestamptz
      and (exited_at is null or exited_at > ${at}::timestamptz)`);
  return row === null ? null : isoInstant(row.at);
}
