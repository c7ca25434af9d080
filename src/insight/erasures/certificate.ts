import { createPublicKey, sign, verify } from 'node:crypto';
import { ensureErasureKey } from '../../contacts/erased.ts';
import type { Database } from '../../store/sql.ts';
import type { ChangedLedger, Erasure } from './entity.ts';
import { subjectOf } from './export.ts';
import type { ErasureStepBody } from './schema.ts';
import { findMentions, hashOfLedger } from './settle.ts';
import { findErasure, moveErasure } from './work.ts';

/** Days for which other systems keep data, by settings; 0 where they keep nothing. */
export interface Retentions {
  /** Name of the mail provider. */
  provider: string;
  providerDays: number;
  backupDays: number;
  /** Set with TEMPORAL_SHOW_EMAILS, which puts addresses into executions. */
  temporalDays: number;
}

export interface CertifyDeps {
  encryptionKeys: readonly string[];
  retentions: Retentions;
  now: Date;
}

/** How long until the certificate can be completed; null when it is final. */
export interface CertificateReport {
  waitMs: number | null;
}

const dayMs = 86_400_000;
const longestWaitMs = 30 * dayMs;

/**
 * Issues the certificate of an erasure whose rows are empty, and forgets the addresses. While somebody else still keeps something, its
 * step is `waiting`, and a later call issues it again. Safe to repeat.
 */
export async function certify(
  db: Database,
  erasureId: string,
  { encryptionKeys, retentions, now }: CertifyDeps,
): Promise<CertificateReport> {
  const erasure = await findErasure(db, erasureId);
  if (erasure === null || erasure.phase === 'DONE') return { waitMs: null };
  if (erasure.phase !== 'CERTIFYING') return { waitMs: waitOf(erasure.dueAt ?? null, now) };
  const mentions = [...erasure.mentions, ...(await findMentions(db, subjectOf(erasure, encryptionKeys)))];
  const ledgers: ChangedLedger[] = [];
  for (const ledger of erasure.ledgers)
    ledgers.push(
      ledger.hashBefore === null || ledger.hashAfter !== null
        ? ledger
        : { ...ledger, hashAfter: await hashOfLedger(db, ledger) },
    );
  await moveErasure(db, erasure, async (tx, row) => {
    const erasedAt = row.erasedAt ?? now;
    Object.assign(row, { erasedAt, mentions, ledgers, addressesSealed: null });
    const steps = erasureSteps(row, erasedAt, retentions, now);
    row.dueAt = nextDue(steps);
    row.phase = row.dueAt === null ? 'DONE' : 'WAITING';
    row.finishedAt = row.dueAt === null ? now : null;
    const key = await ensureErasureKey(tx, row.projectId, encryptionKeys);
    row.publicKey = key.publicKey;
    row.certificate = certificateText(row, steps, now);
    row.signature = sign(null, Buffer.from(row.certificate), key.privateKey).toString('base64');
  });
  const after = await findErasure(db, erasureId);
  return { waitMs: waitOf(after?.dueAt ?? null, now) };
}

function waitOf(due: Date | null, now: Date): number | null {
  return due === null ? null : Math.min(longestWaitMs, Math.max(1_000, due.getTime() - now.getTime()));
}

function nextDue(steps: readonly ErasureStepBody[]): Date | null {
  const due = steps.flatMap(({ until }) => (until === null ? [] : [Date.parse(until)]));
  return due.length === 0 ? null : new Date(Math.min(...due));
}

/** Descriptions of the counts of an erasure, for its certificate. */
const descriptions: Readonly<Record<string, string>> = {
  mail: 'Mail that had not left: cancelled',
  runs: 'Executions of workflows and enrollments: deleted',
  contact: 'Contact: deleted',
  trash: 'Trash of deleted contacts: emptied',
  segments: 'Memberships in segments: deleted',
  emails: 'Mail: address replaced; name, subject, body, headers and attachments emptied',
  tags: 'Tags of mail: deleted',
  links: 'Personal links of campaigns: clicks counted under no name',
  events: 'Events: data emptied',
  history: 'History of changes: deleted',
  lateContacts: 'Contact written by a request that was under way: deleted',
  webhookAnswers: 'Answers to outgoing webhooks: emptied',
  idempotency: 'Answers kept for repeated requests: emptied',
  plans: 'Plans of language models: emptied',
  suppressionRules: 'Suppression rules for the address: deleted',
  importErrors: 'Errors of imports: address removed',
  jobs: 'Settings of imports and bulk changes: address replaced',
  segmentConditions: 'Conditions of segments: address replaced',
  reviews: 'Dry runs of campaigns: address replaced',
  views: 'Filters of saved views: address replaced',
  audiences: 'Audiences of campaigns: address replaced',
  keys: 'Recipients of API keys: address replaced',
  audit: 'Audit log: details redacted',
  otherEmails: 'Mail to others that names the address: address replaced',
  otherEvents: 'Events of others that name the address: address replaced',
};

/** The steps of an erasure, with what was done so far and what waits. */
export function erasureSteps(
  erasure: Erasure,
  erasedAt: Date | null,
  retentions: Retentions | null,
  now: Date,
): ErasureStepBody[] {
  const at = erasedAt?.toISOString() ?? null;
  const state = erasedAt === null ? ('running' as const) : ('done' as const);
  const own = Object.entries(descriptions).map(([key, what]) => ({
    system: 'Postgres',
    what,
    rows: erasure.counts[key] ?? 0,
    state,
    at,
    until: null,
  }));
  const sandbox = erasure.counts.sandbox;
  const provider =
    sandbox === undefined
      ? []
      : [{ system: 'Mail sandbox', what: 'Messages: deleted', rows: sandbox, state: 'done' as const, at, until: null }];
  if (erasedAt === null || retentions === null) return [...own, ...provider];
  return [...own, ...provider, ...waits(erasedAt, retentions, now)];
}

function waits(
  erasedAt: Date,
  { provider, providerDays, backupDays, temporalDays }: Retentions,
  now: Date,
): ErasureStepBody[] {
  const kept = [
    { system: provider, what: 'Messages that the provider keeps: removed by its own retention', days: providerDays },
    { system: 'Backups', what: 'Backups from before the erasure: removed by their retention', days: backupDays },
    {
      system: 'Temporal',
      what: 'Executions that show addresses: removed by the retention of the namespace',
      days: temporalDays,
    },
  ];
  return kept
    .filter(({ days }) => days > 0)
    .map(({ system, what, days }) => {
      const until = new Date(erasedAt.getTime() + days * dayMs);
      const isOver = until <= now;
      return {
        system,
        what,
        rows: null,
        state: isOver ? ('done' as const) : ('waiting' as const),
        at: isOver ? until.toISOString() : null,
        until: isOver ? null : until.toISOString(),
      };
    });
}

function certificateText(row: Erasure, steps: readonly ErasureStepBody[], now: Date): string {
  return JSON.stringify({
    format: 'fernpost-erasure/1',
    id: row.id,
    projectId: row.projectId,
    contactId: row.contactId,
    subject: row.subject,
    reference: row.reference,
    keepSuppressed: row.keepSuppressed,
    requestedAt: row.createdAt.toISOString(),
    erasedAt: row.erasedAt?.toISOString(),
    issuedAt: now.toISOString(),
    final: row.dueAt === null,
    steps,
    ledgersChanged: changedLedgers(row),
    mentions: row.mentions,
  });
}

/** The ledgers whose hash the erasure has changed. */
export function changedLedgers(
  row: Erasure,
): { campaignId: string; sendSeq: number; hashBefore: string; hashAfter: string }[] {
  return row.ledgers.flatMap(({ hashBefore, hashAfter, ...send }) =>
    hashBefore === null || hashAfter === null || hashBefore === hashAfter ? [] : [{ ...send, hashBefore, hashAfter }],
  );
}

/** Whether the text of a certificate is what was signed. */
export function isSigned({ certificate, signature, publicKey }: Erasure): boolean {
  if (!certificate || !signature || !publicKey) return false;
  return verify(null, Buffer.from(certificate), createPublicKey(publicKey), Buffer.from(signature, 'base64'));
}
