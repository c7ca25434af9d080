import { type BillingSettings, type GrantedQuota, limitExceeded, reserveMail } from '../../billing/service.ts';
import { dailyLimit, usageGate } from '../../billing/usage-queries.ts';
import { AppError } from '../../lib/errors.ts';
import { traced } from '../../lib/telemetry.ts';
import { checkUnplanned } from '../../projects/api-key-service.ts';
import type { ProjectFacts } from '../../projects/directory.ts';
import { type Database, repeatable, type WriteOnce } from '../../store/sql.ts';
import { acceptTogether } from './accept-together.ts';
import { type CheckedMail, checkMail, type MailCheckDeps, type OwnContent } from './checks.ts';
import {
  type AcceptedEmail,
  acceptEmails,
  acceptWithin,
  type SendFacts,
  type SendRecipient,
  scheduledBytes,
} from './queries.ts';
import type { SendBody, SentItem } from './schema.ts';

/** Dependencies of accepting mail. */
export interface SendDeps extends MailCheckDeps {
  writeOnce: WriteOnce;
  /** Runs in the transaction of the writes, after them. */
  accepted(tx: Database, emails: readonly SentItem[]): Promise<unknown>;
}

const recipientsPerStatement = 1_000;
// Scheduled mail lies in the ledger for weeks.
const mostScheduledBytes = 1024 * 1024 * 1024;

/**
 * Accepts mail for each recipient of the request (docs/contract/core.md#2-3): everything is checked before the first write,
 * and when this resolves all messages are queued durably. Answers them in the order of `to`.
 * @throws what `checkMail` does, 402 BILLING_LIMIT_EXCEEDED, 409 SCHEDULED_STORAGE_FULL
 */
export async function acceptSend(
  deps: SendDeps,
  project: ProjectFacts,
  body: SendBody,
  own: OwnContent | null = null,
): Promise<SentItem[]> {
  const mail = await checkMail(deps, project, body, own);
  checkUnplanned(deps.key, mail.recipients.length);
  const write = () =>
    deps.writeOnce(
      async (db) => {
        const result = await acceptWithinLimit(db, deps.billing, project, mail);
        if ('overQuota' in result) return result;
        const emails = sentItems(mail, result.accepted);
        await deps.accepted(db, emails);
        return { emails };
      },
      (result) => 'emails' in result,
    );
  const acceptance = await traced('accept mail', { kind: 'producer' }, write);
  // Thrown after the commit, which keeps a counter that has begun.
  if ('overQuota' in acceptance) throw limitExceeded('TRANSACTIONAL', acceptance.overQuota);
  return acceptance.emails;
}

/** The accepted messages as they are answered, in the order of the recipients. */
export function sentItems(
  { recipients, facts, isTimed }: CheckedMail,
  accepted: ReadonlyMap<string, AcceptedEmail>,
): SentItem[] {
  const { scheduledFor, heldUntil } = facts.schedule;
  const times = isTimed
    ? { scheduledFor: scheduledFor?.toISOString() ?? null, heldUntil: heldUntil?.toISOString() ?? null }
    : {};
  return recipients.map(({ email_id }) => {
    const email = accepted.get(email_id);
    if (!email) throw new Error('A recipient has no message');
    return { contact: { id: email.contactId, email: email.email }, email: email.emailId, ...times };
  });
}

/** The result of a request: its mail was accepted, or refused by a monthly limit. */
type Acceptance = { accepted: ReadonlyMap<string, AcceptedEmail> } | { overQuota: GrantedQuota };

/** How many of the recipients count under the monthly limit: what a rule suppresses takes no quota. */
export function countOf({ recipients }: CheckedMail): number {
  return recipients.filter(({ suppression }) => suppression === null).length;
}

async function acceptWithinLimit(
  db: Database,
  billing: BillingSettings,
  project: ProjectFacts,
  mail: CheckedMail,
): Promise<Acceptance> {
  const { recipients, facts } = mail;
  const [first, another] = recipients;
  if (!first) return { accepted: new Map() };
  const gate = usageGate(project.billing, 'TRANSACTIONAL', billing.freeTier);
  const isLimitedByDay = dailyLimit(project.billing, 'TRANSACTIONAL', billing) !== null;
  if (another === undefined && scheduledBytesOf(mail) === 0 && !isLimitedByDay) {
    if (gate === null || countOf(mail) === 0) {
      const email = await acceptTogether(db, project.id, first, facts);
      return { accepted: email ? new Map([[email.emailId, email]]) : await acceptWave(db, project.id, [first], facts) };
    }
    const within = await acceptWithin(db, project.id, [first], facts, gate);
    if (within !== null && within.length > 0)
      return { accepted: new Map(within.map((email) => [email.emailId, email])) };
    if (within !== null) return { accepted: await acceptWave(db, project.id, [first], facts) };
    // No quota, or nobody has begun to count this month: the way of several recipients finds out.
  }
  return repeatable(db, async (tx): Promise<Acceptance> => {
    await checkScheduledBytes(tx, project.id, scheduledBytesOf(mail));
    const overQuota = await overQuotaFor(tx, billing, project, countOf(mail));
    return overQuota === null ? { accepted: await acceptAll(tx, project.id, mail) } : { overQuota };
  });
}

/** Takes quota for so much mail, all of it or none; null when it has been taken. */
export async function overQuotaFor(
  tx: Database,
  billing: BillingSettings,
  project: ProjectFacts,
  count: number,
): Promise<GrantedQuota | null> {
  const request = { projectId: project.id, category: 'TRANSACTIONAL' as const, count, billing: project.billing };
  const quota = await reserveMail(tx, billing, request);
  return quota.granted < count ? quota : null;
}

/** Accepts mail for which quota has been taken. */
export async function acceptAll(
  tx: Database,
  projectId: string,
  { recipients, facts }: CheckedMail,
): Promise<ReadonlyMap<string, AcceptedEmail>> {
  const accepted = new Map<string, AcceptedEmail>();
  for (const wave of wavesOfDistinct(recipients))
    for (const [id, email] of await acceptWave(tx, projectId, wave, facts)) accepted.set(id, email);
  return accepted;
}

/** Returns the bytes that mail adds to the attachments of scheduled mail. */
export function scheduledBytesOf({ recipients, facts }: CheckedMail): number {
  const { scheduledFor, heldUntil } = facts.schedule;
  if (facts.attachments === null || (scheduledFor ?? heldUntil) === null) return 0;
  return recipients.reduce((sum, { bytes, suppression }) => sum + (suppression === null ? bytes : 0), 0);
}

/** @throws 409 SCHEDULED_STORAGE_FULL for more attachments of scheduled mail than a project may have */
export async function checkScheduledBytes(tx: Database, projectId: string, wanted: number): Promise<void> {
  if (wanted === 0) return;
  const used = await scheduledBytes(tx, projectId);
  if (used + wanted <= mostScheduledBytes) return;
  const message = 'The attachments of scheduled mail would take more than 1 GB in this project';
  throw new AppError(409, 'SCHEDULED_STORAGE_FULL', message, {
    details: { usedBytes: used, requestedBytes: wanted, limitBytes: mostScheduledBytes },
    suggestion: 'Put links in place of attachments, or send the mail when others have been sent.',
  });
}

async function acceptWave(db: Database, projectId: string, wave: readonly SendRecipient[], facts: SendFacts) {
  const accepted = new Map<string, AcceptedEmail>();
  let missing = wave;
  for (let attempt = 0; attempt < 10 && missing.length > 0; attempt++) {
    for (const email of await acceptEmails(db, projectId, missing, facts)) accepted.set(email.emailId, email);
    missing = missing.filter((recipient) => !accepted.has(recipient.email_id));
  }
  return accepted;
}

// One statement cannot write a contact twice, and a second message to an address must see what the first one wrote.
function wavesOfDistinct(recipients: readonly SendRecipient[]): SendRecipient[][] {
  const waves: SendRecipient[][] = [];
  const waveOf = new Map<string, number>();
  for (const recipient of recipients) {
    let index = (waveOf.get(recipient.email) ?? -1) + 1;
    while ((waves[index]?.length ?? 0) >= recipientsPerStatement) index++;
    waveOf.set(recipient.email, index);
    const wave = waves[index];
    if (wave) wave.push(recipient);
    else waves[index] = [recipient];
  }
  return waves.filter((wave) => wave !== undefined);
}
