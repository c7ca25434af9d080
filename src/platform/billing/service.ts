import type { Payments } from '@fernpost/payments';
import type { Database } from '../../core/database/sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import type { ProjectBilling, UsageCategory } from '../projects/index.ts';
import { beginCounting, countReceived, projectBilling, reserveQuota, usageOf, usedOf } from './usage-queries.ts';
import { type UsageGate, usageGate } from './usage-schema.ts';

declare module '../../core/http/context.ts' {
  interface App {
    /** Null where billing is not enabled. */
    payments: Payments | null;
  }
}

export interface BillingSettings {
  /** Mails a month of a project that does not pay; null where billing is not enabled. */
  freeTier: number | null;
}

/** Mail that asks to be let in. */
export interface MailRequest {
  projectId: string;
  /** See `usageCategory`. */
  category: UsageCategory;
  count: number;
  /** What the project may use, where the caller knows it; else it is read. */
  billing?: ProjectBilling;
  /** Lets in as many as the quota allows, in place of all or none. */
  partly?: boolean;
}

/** How a request was answered. Without a limit all mail is let in, and `limit` and `usage` are null. */
export interface GrantedQuota {
  granted: number;
  limit: number | null;
  /** What was used before. */
  usage: number | null;
}

/**
 * Lets mail in under the project's monthly limit, inside the transaction that creates its ledger rows: what is rolled back
 * was never counted, and of any number of callers at once exactly as many get through as the quota allows. Call it before
 * the transaction locks contacts (a send does it in this order). A project without limits costs one read of its row.
 */
export async function reserveMail(
  db: Database,
  settings: BillingSettings,
  request: MailRequest,
): Promise<GrantedQuota> {
  const { projectId, count } = request;
  const gate = await gateOf(db, settings, request);
  if (gate === null || count === 0) return { granted: count, limit: null, usage: null };
  for (;;) {
    const granted = await reserveQuota(db, projectId, gate, count, request.partly ?? false);
    if (granted !== null) return { ...granted, limit: gate.limit };
    await beginCounting(db, projectId, gate.category);
  }
}

/** Says whether the quota allows so many mails, without taking it. `granted` is what would be let in. */
export async function quotaFor(db: Database, settings: BillingSettings, request: MailRequest): Promise<GrantedQuota> {
  const { projectId, count, partly = false } = request;
  const gate = await gateOf(db, settings, request);
  if (gate === null) return { granted: count, limit: null, usage: null };
  const usage = usedOf(await usageOf(db, projectId), gate.category);
  const granted = usage + count <= gate.limit ? count : partly ? Math.max(0, gate.limit - usage) : 0;
  return { granted, limit: gate.limit, usage };
}

/**
 * Lets one received mail in and counts it, inside the transaction that writes it down. False when the project's limit for
 * received mail is reached: it is dropped (contract page 3, 6.7).
 */
export async function reserveReceivedMail(
  db: Database,
  settings: BillingSettings,
  projectId: string,
): Promise<boolean> {
  const { granted } = await reserveMail(db, settings, { projectId, category: 'INBOUND', count: 1 });
  if (granted === 0) return false;
  await countReceived(db, projectId);
  return true;
}

/** 402 for mail beyond a limit (contract page 3, 6.7). */
export function limitExceeded(category: UsageCategory, { usage, limit }: GrantedQuota): AppError {
  return new AppError(
    402,
    'BILLING_LIMIT_EXCEEDED',
    `The monthly limit of ${limit} mails is reached (${usage} used): nothing was sent`,
    {
      details: { category, usage, limit },
      suggestion: 'Raise the limit under billing, or wait for the next calendar month (UTC).',
    },
  );
}

/** 403 for a campaign that the rest of the month's limit does not hold (contract page 2, 2.5). */
export function campaignTooLarge(recipients: number, { usage, limit }: GrantedQuota): AppError {
  return new AppError(
    403,
    'FORBIDDEN',
    `The campaign has ${recipients} recipients, but only ${Math.max(0, (limit ?? 0) - (usage ?? 0))} of the ${limit} mails of this month are left`,
    {
      details: { recipients, usage, limit },
      suggestion:
        'Raise the limit under billing, choose a smaller audience, or wait for the next calendar month (UTC).',
    },
  );
}

async function gateOf(
  db: Database,
  { freeTier }: BillingSettings,
  { projectId, category, billing }: MailRequest,
): Promise<UsageGate | null> {
  const known = billing ?? (await projectBilling(db, projectId));
  return known === null ? null : usageGate(known, category, freeTier);
}
