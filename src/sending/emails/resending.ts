import { domainOf } from '@fernpost/validation';
import type { Database, WriteOnce } from '../../core/database/sql.ts';
import type { KeepAnswer, ScopedKey } from '../../core/http/context.ts';
import { AppError, conflict, notFound } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import { recordChange } from '../../platform/audit/index.ts';
import {
  type BillingSettings,
  type GrantedQuota,
  limitExceeded,
  reserveMail,
  usageCategory,
} from '../../platform/billing/index.ts';
import { checkSenderDomain } from '../../platform/domains/index.ts';
import type { ProjectDirectory, ProjectFacts, UsageCategory, VerifiedDomains } from '../../platform/projects/index.ts';
import type { Composer } from '../engine/index.ts';
import { checkStoredMail } from './key-limits.ts';
import { type EarlierMail, findLatestResend, lockEarlier, queueAgain } from './resend-queries.ts';
import type { EmailRecord } from './schema.ts';
import { getEmail } from './service.ts';

/** What sending a mail again needs. */
export interface ResendDeps {
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
  if (status !== 'FAILED')
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
