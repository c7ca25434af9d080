import type { Database } from '../../core/database/sql.ts';
import { tryUnseal, UnsealError } from '../../core/lib/seal.ts';
import type { RecoverableKind } from '../../core/outbox/recovery.ts';
import {
  beginHandOver,
  type Letter,
  noteFailed,
  noteRefusal,
  noteSent,
  type PendingMail,
  pendingMail,
  stalledMails,
  startOfMail,
} from '../../platform/system-mail/index.ts';
import { holdFor } from '../engine/index.ts';
import { type Mailer, systemProjectId, type Verdict } from '../providers/index.ts';

/** What mail of the service is handed over with. */
export interface SystemMailDeps {
  db: Database;
  mailer: Mailer;
  /** Keys that may have sealed the content of a mail. */
  encryptionKey: string | readonly string[];
  from: { address: string; name: string };
  /** How long a message the provider does not know may still turn up there, in milliseconds. */
  lagMs: number;
}

/** What became of a mail, or in how many milliseconds to look at it again. */
export type SystemMailReport = { state: 'sent' | 'failed' | 'gone' } | { state: 'later'; waitMs: number };

const givenUpAfterMs = 24 * 3600 * 1000;
const shortestPauseMs = 5_000;
const longestPauseMs = 10 * 60_000;

/**
 * Hands a mail of the service to the provider. Safe to repeat from any point: a hand-over is noted before it begins, and
 * one whose outcome is not known is looked up at the provider before the mail is sent again.
 */
export async function sendSystemMail(deps: SystemMailDeps, id: string): Promise<SystemMailReport> {
  const { db, mailer } = deps;
  const mail = await pendingMail(db, id);
  if (mail === null) return { state: 'gone' };
  if (mail.attempts > 0 && mail.error === null) {
    const known = (await mailer.accepted(id)).get(id);
    if (known) return sent(deps, id, known);
    if (mail.sinceMs < deps.lagMs) return { state: 'later', waitMs: Math.ceil(deps.lagMs - mail.sinceMs) };
  }
  if (mail.ageMs > givenUpAfterMs) return failed(deps, id, mail.error ?? 'Not taken by the provider within 24 hours');
  const hold = await holdFor(db, mailer.name);
  if (hold !== null) return { state: 'later', waitMs: Math.max(hold.waitMs, shortestPauseMs) };
  const content = tryUnseal(mail.contentSealed, deps.encryptionKey);
  if (content === null) {
    // It waits for the old key as it waits for a provider: somebody may set it within the day.
    await noteRefusal(db, id, new UnsealError().message);
    return { state: 'later', waitMs: longestPauseMs };
  }
  if (!(await beginHandOver(db, id, mail.attempts))) return { state: 'later', waitMs: shortestPauseMs };
  const [verdict] = await mailer.send(id, [messageOf(deps, mail, JSON.parse(content) as Letter)]);
  return settle(deps, mail, verdict ?? { kind: 'unknown', reason: 'the provider named no result' });
}

async function settle(deps: SystemMailDeps, mail: PendingMail, verdict: Verdict): Promise<SystemMailReport> {
  switch (verdict.kind) {
    case 'accepted':
      return sent(deps, mail.id, verdict);
    case 'rejected':
      return failed(deps, mail.id, `Refused by the provider (${verdict.code}): ${verdict.reason}`);
    case 'retry':
      await noteRefusal(deps.db, mail.id, verdict.reason);
      return { state: 'later', waitMs: Math.max(pauseAfter(mail.attempts), verdict.afterMs ?? 0) };
    case 'unknown':
      return { state: 'later', waitMs: deps.lagMs };
  }
}

function pauseAfter(attempts: number): number {
  return Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(attempts, 20));
}

async function sent(
  { db }: SystemMailDeps,
  id: string,
  { messageId, at }: { messageId: string; at: string },
): Promise<SystemMailReport> {
  await noteSent(db, id, messageId, at);
  return { state: 'sent' };
}

async function failed({ db }: SystemMailDeps, id: string, reason: string): Promise<SystemMailReport> {
  await noteFailed(db, id, reason);
  return { state: 'failed' };
}

function messageOf({ from }: SystemMailDeps, mail: PendingMail, { subject, html, text }: Letter) {
  return {
    emailId: mail.id,
    projectId: systemProjectId,
    from,
    to: { address: mail.to, name: null },
    replyTo: null,
    subject,
    html,
    text,
    headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
    attachments: [],
    tag: 'SYSTEM',
    stream: 'transactional' as const,
    tracking: false,
  };
}

/** Mail of the service whose execution may be lost. It rests between two attempts for ten minutes at most. */
export const recoverableMails: RecoverableKind = {
  name: 'system mail',
  afterMs: 15 * 60_000,
  async stalled(sql, query) {
    return (await stalledMails(sql, query)).map(({ id, at }) => ({
      at,
      id,
      start: startOfMail(id),
      wake: null,
      isOlder: false,
    }));
  },
};
