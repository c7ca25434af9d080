import { type BillingSettings, type GrantedQuota, limitExceeded, reserveMail } from '../../billing/service.ts';
import { usageCategory } from '../../billing/usage-queries.ts';
import { checkSenderDomain } from '../../domains/service.ts';
import type { KeepAnswer, ScopedKey } from '../../http/context.ts';
import type { MessageClass, SourceType } from '../../lib/enums.ts';
import { AppError, conflict, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { domainOf } from '../../lib/validation/email-address.ts';
import { recordChange } from '../../projects/audit/record.ts';
import type { ProjectDirectory, ProjectFacts, VerifiedDomains } from '../../projects/directory.ts';
import type { UsageCategory } from '../../projects/queries.ts';
import { type Database, limitingKey, raw, sql, type WriteOnce } from '../../store/sql.ts';
import type { Composer } from '../engine/compose.ts';
import { acceptingMail } from '../ledger/accept.ts';
import type { ReasonCode } from '../ledger/reasons.ts';
import { MailStatus } from '../status.ts';
import { checkStoredMail } from './schedule.ts';
import type { EmailRecord } from './schema.ts';
import { getEmail } from './service.ts';

/** An earlier mail, as far as it decides whether it may be sent again. */
interface EarlierMail {
  status: MailStatus;
  sourceType: SourceType | 'INBOUND';
  messageClass: MessageClass;
  campaignId: string | null;
  from: string;
  to: string;
  reasonCode: ReasonCode | null;
  /** Its sources and values are still kept. */
  hasContent: boolean;
  /** It had attachments, and their bytes are gone. */
  lacksFiles: boolean;
}

/** A mail of the project, which nothing settles until the transaction has ended; null for none. */
function lockEarlier(tx: Database, projectId: string, id: string): Promise<EarlierMail | null> {
  return tx.row(sql`
    select status, source_type as "sourceType", message_class as "messageClass", campaign_id as "campaignId", "from",
      to_address as "to", reason ->> 'code' as "reasonCode", render is not null as "hasContent",
      coalesce(attachments @? '$[*] ? (!exists(@.content))', false) as "lacksFiles"
    from emails where project_id = ${projectId} and id = ${id} for no key update`);
}

/** The latest mail that repeats one that is locked, so that it sees what committed while the lock was waited for. */
async function findLatestResend(tx: Database, id: string): Promise<string | null> {
  const row = await tx.row<{ id: string }>(sql`
    select email_id as id from email_resends where resend_of = ${id} order by email_id desc limit 1`);
  return row?.id ?? null;
}

const again = `project_id, contact_id, to_address, to_name, "from", from_name, reply_to, render, headers, attachments, source_type,
  message_class, template_id, workflow_execution_id, tracking, simulated`;

/**
 * Queues the accepted content of a mail once more, as a new mail with its tags that says which one it repeats. False when its contact is
 * gone.
 */
async function queueAgain(tx: Database, projectId: string, id: string, newId: string): Promise<boolean> {
  const accepting = acceptingMail({
    projectId,
    columns: `id, ${again}, limited_by`,
    rows: sql`
      select ${newId}, ${raw(again)}, coalesce(${limitingKey(tx)}::uuid, limited_by) from emails join lateral (
        select from contacts c where c.id = contact_id for key share) contact on true
      where id = ${id} and project_id = ${projectId}`,
    queue: {
      bytes: sql`(
        select coalesce((select f.bytes from failed_attachments f where f.email_id = e.id),
          octet_length(render ->> 'subject') + octet_length(render ->> 'body')
          + coalesce(octet_length(render ->> 'text'), 0) + coalesce(octet_length((render -> 'data')::text), 0))
        from emails e where e.id = ${id})`,
    },
    tags: sql`select name, value from email_tags where email_id = ${id}`,
  });
  const added = await tx.count(sql`
    with ${accepting}
    insert into email_resends (email_id, resend_of, project_id) select id, ${id}, ${projectId}::uuid from accepted`);
  return added === 1;
}

/** Dependencies of sending a mail again. */
interface ResendDeps {
  writeOnce: WriteOnce;
  directory: Pick<ProjectDirectory, 'senderDomains'>;
  billing: BillingSettings;
  compose: Composer;
  /** The key of the request, where it has scopes and limits. */
  key: ScopedKey | null;
  /** The request has an Idempotency-Key, so that sending once more is meant. */
  isKeyed: boolean;
  keepAnswer: KeepAnswer;
}

/**
 * Sends the accepted content of a mail that failed once more, as a new mail, and answers that one. `evenIfItArrived` also
 * sends what the provider may have taken.
 * @throws 404; 409 for mail that has not failed, is a campaign's, may have arrived, or whose content is gone, and without an
 * Idempotency-Key for mail that was resent before; 402; 403 for the sender's domain and for what the key may not send
 */
export async function resendEmail(
  deps: ResendDeps,
  project: ProjectFacts,
  id: string,
  evenIfItArrived: boolean,
): Promise<EmailRecord> {
  // Read before the transaction: whoever waits for its lock may have the last connection.
  const domains = await deps.directory.senderDomains(project.id);
  const resent = await deps.writeOnce(
    (db) => db.transaction((tx) => resendWithin(tx, { ...deps, domains }, project, id, evenIfItArrived)),
    (result) => 'email' in result,
  );
  // Thrown after the commit, which keeps a counter that has begun.
  if ('overQuota' in resent) throw limitExceeded(resent.category, resent.overQuota);
  return resent.email;
}

async function resendWithin(
  tx: Database,
  { domains, billing, compose, key, isKeyed, keepAnswer }: ResendDeps & { domains: VerifiedDomains },
  project: ProjectFacts,
  id: string,
  evenIfItArrived: boolean,
): Promise<{ email: EmailRecord } | { overQuota: GrantedQuota; category: UsageCategory }> {
  const earlier = await lockEarlier(tx, project.id, id);
  if (earlier === null) throw notFound('email', id);
  checkStoredMail(key, earlier);
  checkResendable(earlier, evenIfItArrived);
  const before = isKeyed ? null : await findLatestResend(tx, id);
  if (before !== null) throw resentBefore(before);
  checkSenderDomain(domains, domainOf(earlier.from));
  const category = usageCategory(earlier.sourceType, earlier.messageClass);
  const request = { projectId: project.id, category, count: 1, billing: project.billing };
  const quota = await reserveMail(tx, billing, request);
  if (quota.granted === 0) return { overQuota: quota, category };
  const resendId = newId();
  if (!(await queueAgain(tx, project.id, id, resendId))) throw notFound('email', id);
  const email = await getEmail(tx, compose, project.id, resendId, false);
  await recordChange(tx, project.id, { action: 'email.resent', target: id, after: { email: resendId } });
  await keepAnswer(tx, email);
  return { email };
}

function checkResendable(mail: EarlierMail, evenIfItArrived: boolean): void {
  const { status, campaignId, reasonCode, hasContent, lacksFiles } = mail;
  if (campaignId !== null)
    throw conflict('This email belongs to a campaign: resend the campaign to those whom it missed', { campaignId });
  if (status !== MailStatus.FAILED)
    throw new AppError(409, 'EMAIL_NOT_FAILED', `This email is ${status}: only one that failed can be sent again`, {
      details: { status },
    });
  if (reasonCode === 'submission_unknown' && !evenIfItArrived)
    throw new AppError(409, 'OUTCOME_UNKNOWN', 'It is unknown whether this email arrived', {
      suggestion: 'Pass "evenIfItArrived": true to send it again although the recipient may receive it twice.',
    });
  if (!hasContent || lacksFiles)
    throw new AppError(
      409,
      'EMAIL_CONTENT_GONE',
      hasContent
        ? 'The attachments of this email are no longer stored'
        : 'The content of this email is no longer stored',
      { suggestion: 'Send it again with POST /v1/send.' },
    );
}

// A client that repeats a request whose answer was lost must not send a second mail by it.
function resentBefore(email: string): AppError {
  return new AppError(409, 'EMAIL_RESENT', 'This email was resent before', {
    details: { email },
    suggestion: 'Check what happened to that email. To resend this one again, use a new Idempotency-Key.',
  });
}
