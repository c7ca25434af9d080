import * as v from 'valibot';
import { campaignEvent } from '../../contacts/events/queries.ts';
import type { Verdict } from '../../domains/providers/mailer.ts';
import { field, Instant, nameSchemas } from '../../lib/validation/fields.ts';
import { isoInstant } from '../../store/columns.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { longestAskedMs } from './attempts.ts';
import type { EngineDeps } from './port.ts';

/** The mail provider accepts no mail at the moment, so that mail waits. */
export const SendingHold = v.object({
  provider: field('Mail provider: `postmark`, `ses`, `smtp` or `sandbox`.', v.string()),
  reason: field('Response of the mail provider, or how the connection failed.', v.string()),
  since: field('When the provider stopped accepting mail.', Instant),
  until: field('When the next attempt is made.', Instant),
});
export type SendingHold = v.InferOutput<typeof SendingHold>;

/** A hold of a provider as responses show it. */
export function holdBody(provider: string, { reason, since, until }: Hold): SendingHold {
  return { provider, reason, since, until };
}

nameSchemas({ SendingHold });

/** Why nobody calls the provider at the moment. Instants are ISO; `waitMs` is measured by the database's clock. */
export interface Hold {
  reason: string;
  since: string;
  until: string;
  /** How long until it may be tried again. */
  waitMs: number;
}

/** The report of a call on the provider as a whole; null when it says nothing of it. */
type CallReport = { ok: true } | { ok: false; reason: string; afterMs: number | null; account: boolean } | null;

/** Consecutive failures after which calls stop. One that names a time to wait, or refuses the account, stops them at once. */
const patience = 3;
/** The longest pause for a hold: meanwhile mail may come to need no provider, as that of a disabled project. */
export const longestHeldMs = 60_000;
// While one caller tries a held provider, the others wait this long for its result.
const probeMs = 10_000;

/**
 * A provider is held until then while a database that was set back is compared with what the provider has accepted since
 * (feedback/reports/restored.ts). No call ends or shortens such a hold.
 */
export const restoreHold = raw(`timestamptz '9999-01-01'`);

/** Reads the verdicts of one call: it speaks for the provider when it failed as a whole or got through. */
export function reportOf(verdicts: readonly Verdict[]): CallReport {
  let failed: CallReport = null;
  let answered = false;
  for (const verdict of verdicts) {
    if (verdict.kind === 'accepted' || verdict.kind === 'rejected') answered = true;
    else if (verdict.kind === 'unknown')
      failed ??= { ok: false, reason: verdict.reason, afterMs: null, account: false };
    else if (verdict.scope === 'account')
      return { ok: false, reason: verdict.reason, afterMs: verdict.afterMs, account: true };
    else if (verdict.scope === 'call')
      failed ??= { ok: false, reason: verdict.reason, afterMs: verdict.afterMs, account: false };
  }
  return answered ? { ok: true } : failed;
}

/**
 * How long to leave the provider alone after so many consecutive failures, in milliseconds: 1 s, 2 s, 4 s … 60 s, or
 * what it asked for, an hour at most; 30 s … 10 min where the account is refused. `random` in [0, 1) spreads callers by up
 * to a quarter.
 */
export function backOff(failures: number, account: boolean, afterMs: number | null, random: number): number {
  const [first, last] = account ? [30_000, 600_000] : [1_000, 60_000];
  const wait = Math.min(last, first * 2 ** Math.min(failures - 1, 20));
  return Math.round(Math.max(wait * (0.75 + random / 4), Math.min(afterMs ?? 0, longestAskedMs)));
}

/** Returns why the provider is held, or null when it may be called. For people; callers ask `mayCall`. */
export async function holdFor(db: Database, provider: string): Promise<Hold | null> {
  const row = await db.row<Hold>(sql`
    select reason, since, until, ceil(1000 * extract(epoch from until - clock_timestamp()))::float8 as "waitMs"
    from (
      select coalesce(reason, 'provider does not answer') as reason, held_since as since,
        case when held_until < ${restoreHold} then held_until else clock_timestamp()::timestamptz(3) + ${longestHeldMs} * interval '1 millisecond' end as until
      from provider_holds where provider = ${provider} and held_until is not null) held`);
  return row && { ...row, since: isoInstant(row.since), until: isoInstant(row.until) };
}

/** Leave to claim mail for the provider. `probing`: its hold is over but for a call that gets through; see `takeProbe`. */
type Leave = { hold: null; probing: boolean } | { hold: Hold };

/** Asks before mail is claimed. Takes nothing: several may get leave to probe, and the first that has a call to make does. */
export async function mayCall(db: Database, provider: string): Promise<Leave> {
  const hold = await holdFor(db, provider);
  if (hold === null) return { hold: null, probing: false };
  return hold.waitMs <= 0 ? { hold: null, probing: true } : { hold };
}

/**
 * Asks with leave to probe, right before the call: null for the one caller that makes it. The others get the hold,
 * prolonged until that call has been noted by `noteCall` or is overdue. Null as well when the hold has ended meanwhile.
 */
export async function takeProbe(db: Database, provider: string): Promise<Hold | null> {
  const taken = await db.count(sql`
    update provider_holds set held_until = clock_timestamp() + ${probeMs} * interval '1 millisecond'
    where provider = ${provider} and held_until <= clock_timestamp()`);
  if (taken > 0) return null;
  const hold = await holdFor(db, provider);
  return hold && { ...hold, waitMs: Math.max(hold.waitMs, 100) };
}

/**
 * Notes how a call went: a success ends a hold, consecutive failures begin or lengthen one, and a probe without a result is
 * free for the next caller. Returns whether a failed call left the provider held.
 */
export async function noteCall(
  db: Database,
  provider: string,
  report: CallReport,
  probing: boolean,
  random = Math.random(),
): Promise<boolean> {
  if (report === null) {
    // A probe that said nothing of the provider leaves the question to the next one.
    if (probing)
      await db.count(sql`
        update provider_holds set held_until = date_trunc('milliseconds', clock_timestamp())
        where provider = ${provider} and held_until > clock_timestamp() and held_until < ${restoreHold}`);
    return false;
  }
  // Only the probe's answer counts while a hold lasts: calls that were already under way when it began neither end nor
  // lengthen it.
  if (report.ok) {
    await db.count(sql`
      update provider_holds set failures = 0, reason = null, held_since = null, held_until = null
      where provider = ${provider} and failures > 0 and (${probing} and held_until < ${restoreHold} or held_until is null or held_until <= clock_timestamp())`);
    return false;
  }
  const { reason, afterMs, account } = report;
  const counted = await db.row<{ failures: number }>(sql`
    insert into provider_holds as h (provider, failures, reason, held_since) values (${provider}, 1, ${reason}, clock_timestamp())
    on conflict (provider) do update set failures = h.failures + 1, reason = excluded.reason,
      held_since = coalesce(h.held_since, excluded.held_since)
    where ${probing} and h.held_until < ${restoreHold} or h.held_until is null or h.held_until <= clock_timestamp()
    returning failures`);
  if (counted === null) return true;
  const atOnce = account || afterMs !== null;
  if (!probing && !atOnce && counted.failures < patience) return false;
  const step = atOnce ? counted.failures : Math.max(1, counted.failures - patience + 1);
  await hold(db, provider, backOff(step, account, afterMs, random));
  return true;
}

// Every campaign that is being sent waits for it when a hold begins: an event of each project.
async function hold(db: Database, provider: string, ms: number): Promise<void> {
  const given = sql`
    before as materialized (select held_until from provider_holds where provider = ${provider} and failures > 0 for update),
    held as (
      update provider_holds h set held_until = clock_timestamp() + ${ms} * interval '1 millisecond'
      from before where h.provider = ${provider} and h.failures > 0
      returning h.provider, h.reason, before.held_until is null as begins)`;
  const more = sql`jsonb_build_object('provider', held.provider, 'reason', held.reason)`;
  const from = sql`held join campaigns c on held.begins where c.status = 'SENDING' and c.paused_at is null`;
  await db.count(recordingEvents({ given, events: [campaignEvent('c', { name: 'campaign.held', more, from })] }));
}

/** The hold as a sentence for operators: `held: provider answers 429 since 10:41, 41,200 waiting, next try 10:46`. */
export function holdSentence(hold: Hold, waiting: number): string {
  const clock = (instant: string) => `${new Date(instant).toISOString().slice(11, 16)} UTC`;
  return `held: ${hold.reason} since ${clock(hold.since)}, ${waiting.toLocaleString('en-US')} waiting, next try ${clock(hold.until)}`;
}

// A success is worth a statement only now and then: it matters only after failures, which this process may not know of.
const lastSuccess = new Map<string, number>();
const successEveryMs = 1000;

/** Notes a call for the circuit breaker; returns whether the provider is held. Never rejects. */
export async function noteQuietly(
  { db, mailer: { name }, log }: EngineDeps,
  report: CallReport,
  probing: boolean,
): Promise<boolean> {
  if (report === null && !probing) return false;
  if (report?.ok && !probing && performance.now() - (lastSuccess.get(name) ?? -Infinity) < successEveryMs) return false;
  if (report?.ok) lastSuccess.set(name, performance.now());
  else lastSuccess.delete(name);
  try {
    return await noteCall(db, name, report, probing);
  } catch (error) {
    log.warn({ err: error }, 'a call of the mail provider could not be noted');
    return false;
  }
}
