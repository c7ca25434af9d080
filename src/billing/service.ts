import { AppError } from '../lib/errors.ts';
import type { ProjectBilling, UsageCategory } from '../projects/queries.ts';
import type { Database } from '../store/sql.ts';
import { acceptedToday, giveBackToday, takeOfToday } from './daily-queries.ts';
import type { Payments } from './payments/payments.ts';
import {
  beginCounting,
  countReceived,
  dailyLimit,
  projectBilling,
  reserveQuota,
  type UsageGate,
  usageGate,
  usageOf,
  usedOf,
} from './usage-queries.ts';

declare module '../http/context.ts' {
  interface App {
    /** Null where billing is not enabled. */
    payments: Payments | null;
  }
}

export interface BillingSettings {
  /** Mails a month of a project that does not pay; null where billing is not enabled. */
  freeTier: number | null;
  /** Emails a day of a project that is not trusted; null for no limit. */
  publicDailyEmails: number | null;
}

/** Mail that asks to be let in. */
export interface MailRequest {
  projectId: string;
  /** See `usageCategory`. */
  category: UsageCategory;
  count: number;
  /** Limits of the project, where the caller knows them; else they are read. */
  billing?: ProjectBilling;
  /** Lets in as many as the quota allows, in place of all or none. */
  partly?: boolean;
}

/** How a request was answered. Without a limit all mail is let in, and `limit` and `usage` are null. */
export interface GrantedQuota {
  granted: number;
  limit: number | null;
  /** Usage before this. */
  usage: number | null;
  /** The limit is that of a day. */
  isDaily?: true;
}

/**
 * Lets mail in under the project's limits, that of the day and that of the month, inside the transaction that creates its
 * ledger rows: what is rolled back was never counted, and of any number of callers at once exactly as many get through as the
 * quota allows. Call it before the transaction locks contacts (a send does it in this order). A project without limits costs
 * one read of its row.
 */
export async function reserveMail(
  db: Database,
  settings: BillingSettings,
  request: MailRequest,
): Promise<GrantedQuota> {
  const { projectId, count, partly = false } = request;
  const { daily, monthly } = await limitsOf(db, settings, request);
  if (count === 0) return { granted: 0, limit: null, usage: null };
  const ofDay = daily === null ? null : await takeDaily(db, projectId, daily, count, partly);
  const wanted = ofDay?.granted ?? count;
  if (monthly === null || wanted === 0) return ofDay ?? { granted: count, limit: null, usage: null };
  const ofMonth = await reserveMonthly(db, projectId, monthly, wanted, partly);
  if (ofDay !== null && ofMonth.granted < wanted) await giveBackToday(db, projectId, wanted - ofMonth.granted);
  return ofDay !== null && ofMonth.granted === wanted ? ofDay : ofMonth;
}

async function takeDaily(
  db: Database,
  projectId: string,
  limit: number,
  count: number,
  partly: boolean,
): Promise<GrantedQuota> {
  return { ...(await takeOfToday(db, projectId, limit, count, partly)), limit, isDaily: true };
}

async function reserveMonthly(
  db: Database,
  projectId: string,
  gate: UsageGate,
  count: number,
  partly: boolean,
): Promise<GrantedQuota> {
  for (;;) {
    const granted = await reserveQuota(db, projectId, gate, count, partly);
    if (granted !== null) return { ...granted, limit: gate.limit };
    await beginCounting(db, projectId, gate.category);
  }
}

/**
 * Takes one email of today for mail that is in no ledger, such as a test of a campaign. Monthly limits don't count it.
 * @throws 402 BILLING_LIMIT_EXCEEDED
 */
export async function takeUnrecorded(
  db: Database,
  settings: BillingSettings,
  { id, billing }: { id: string; billing: ProjectBilling },
): Promise<void> {
  const limit = dailyLimit(billing, 'TRANSACTIONAL', settings);
  if (limit === null) return;
  const quota = await db.transaction((tx) => takeDaily(tx, id, limit, 1, false));
  if (quota.granted === 0) throw limitExceeded('TRANSACTIONAL', quota);
}

/** Says whether the quota allows so many mails, without taking it. `granted` is what would be let in. */
export async function quotaFor(db: Database, settings: BillingSettings, request: MailRequest): Promise<GrantedQuota> {
  const { projectId, count, partly = false } = request;
  const { daily, monthly } = await limitsOf(db, settings, request);
  const left = (usage: number, limit: number) =>
    usage + count <= limit ? count : partly ? Math.max(0, limit - usage) : 0;
  const answers: GrantedQuota[] = [];
  if (daily !== null) {
    const usage = await acceptedToday(db, projectId);
    answers.push({ granted: left(usage, daily), limit: daily, usage, isDaily: true });
  }
  if (monthly !== null) {
    const usage = usedOf(await usageOf(db, projectId), monthly.category);
    answers.push({ granted: left(usage, monthly.limit), limit: monthly.limit, usage });
  }
  // The one that leaves less room.
  const roomOf = ({ limit, usage }: GrantedQuota) => (limit ?? 0) - (usage ?? 0);
  const [tightest] = answers.toSorted((a, b) => roomOf(a) - roomOf(b));
  return tightest ?? { granted: count, limit: null, usage: null };
}

/**
 * Lets one received mail in and counts it, inside the transaction that writes it down. False when the project's limit for
 * received mail is reached: it is dropped (docs/contract/platform.md#6-7).
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

/** 402 for mail beyond a limit (docs/contract/platform.md#6-7). */
export function limitExceeded(category: UsageCategory, { usage, limit, isDaily }: GrantedQuota): AppError {
  if (isDaily)
    return new AppError(
      402,
      'BILLING_LIMIT_EXCEEDED',
      `The daily limit of ${limit} emails of this project is reached or would be exceeded (${usage} used): nothing was sent`,
      {
        details: { category, usage, limit, period: 'day' },
        suggestion:
          'Ask the operator of this service to approve the project, or send fewer emails before midnight UTC.',
      },
    );
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

/** 403 for a campaign that the rest of the month's limit does not hold (docs/contract/campaigns-and-workflows.md#2-5). */
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

/** How many mails of a category a project may send in a day and in a month; null for no limit. */
async function limitsOf(
  db: Database,
  settings: BillingSettings,
  { projectId, category, billing }: MailRequest,
): Promise<{ daily: number | null; monthly: UsageGate | null }> {
  const known = billing ?? (await projectBilling(db, projectId));
  if (known === null) return { daily: null, monthly: null };
  return {
    daily: dailyLimit(known, category, settings),
    monthly: usageGate(known, category, settings.freeTier),
  };
}
