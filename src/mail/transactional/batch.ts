import * as v from 'valibot';
import { type GrantedQuota, limitExceeded } from '../../billing/service.ts';
import { withSubscription } from '../../lib/contact-data.ts';
import { AppError, invalid, invalidField } from '../../lib/errors.ts';
import { type FieldProblem, fieldProblems } from '../../lib/validation/problems.ts';
import { checkUnplanned } from '../../projects/api-key-service.ts';
import type { ProjectFacts } from '../../projects/directory.ts';
import { type Database, repeatable, sql, withSavepoint } from '../../store/sql.ts';
import { type CheckedMail, checkMail, mostStoredBytes } from './checks.ts';
import { type BatchBody, type BatchResult, mostRecipients, SendBody } from './schema.ts';
import {
  acceptAll,
  checkScheduledBytes,
  countOf,
  overQuotaFor,
  type SendDeps,
  scheduledBytesOf,
  sentItems,
} from './service.ts';

/** Dependencies of accepting a batch. */
export interface BatchDeps extends Omit<SendDeps, 'accepted'> {
  /** Runs in the transaction of the writes, after them. */
  accepted(tx: Database, results: readonly BatchResult[]): Promise<unknown>;
}

/** An item that may be accepted, or why not. */
type Item = { mail: CheckedMail } | { refusal: AppError };
type Accepted = { place: number; mail: CheckedMail };

/**
 * Accepts up to 100 requests to send in one transaction (docs/contract/reach.md#1): all or none, or each by itself. Answers what
 * became of each, in their order.
 * @throws 422 for a batch that is too large; with the mode `all` what `acceptSend` throws, naming the item
 */
export async function acceptBatch(
  deps: BatchDeps,
  project: ProjectFacts,
  { emails, mode }: BatchBody,
): Promise<BatchResult[]> {
  if (emails.reduce<number>((sum, email) => sum + recipientsOf(email), 0) > mostRecipients)
    throw invalidField('emails', `must have at most ${mostRecipients} recipients together`, 'too_big');
  checkUnplanned(
    deps.key,
    emails.reduce<number>((sum, email) => sum + recipientsOf(email), 0),
  );
  const items = await Promise.all(emails.map((email) => check(deps, project, email)));
  checkStoredTogether(items);
  if (mode === 'all') refuseAny(items);
  const outcome = await deps.writeOnce(
    (db) =>
      repeatable(db, async (tx) => {
        const results = await (mode === 'all' ? acceptWhole : acceptEach)(tx, deps, project, items);
        if ('overQuota' in results) return results;
        await deps.accepted(tx, results);
        return results;
      }),
    (result) => !('overQuota' in result),
  );
  // Thrown after the commit, which keeps a counter that has begun.
  if ('overQuota' in outcome) throw limitExceeded('TRANSACTIONAL', outcome.overQuota);
  return outcome;
}

/** The recipients of an item that is not checked yet. */
export function recipientsOf(email: unknown): number {
  const to = typeof email === 'object' && email !== null && 'to' in email ? email.to : null;
  return Array.isArray(to) ? Math.max(1, to.length) : 1;
}

async function check(deps: BatchDeps, project: ProjectFacts, email: unknown): Promise<Item> {
  const parsed = v.safeParse(SendBody, withSubscription(email));
  if (!parsed.success) return { refusal: invalid(sendProblems(fieldProblems(parsed.issues))) };
  try {
    return { mail: await checkMail(deps, project, parsed.output) };
  } catch (error) {
    if (error instanceof AppError) return { refusal: error };
    throw error;
  }
}

/** Nothing at all fits none of the forms of "to" either (docs/contract/core.md#1-3). */
export function sendProblems(problems: readonly FieldProblem[]): FieldProblem[] {
  return problems.map((problem) =>
    problem.field === 'to' && problem.received === 'undefined'
      ? { field: 'to', code: 'invalid_union', message: problem.message }
      : problem,
  );
}

function checkStoredTogether(items: readonly Item[]): void {
  const bytes = items.reduce((sum, item) => sum + ('mail' in item ? item.mail.storedBytes : 0), 0);
  if (bytes > mostStoredBytes)
    throw invalidField(
      'emails',
      `take ${bytes} bytes together, more than the ${mostStoredBytes} of a request`,
      'too_big',
    );
}

// One answer for all: what is wrong with every item, under the code of the first.
function refuseAny(items: readonly Item[]): void {
  const refusals = items.flatMap((item, place) => ('refusal' in item ? [{ place, refusal: item.refusal }] : []));
  const [first] = refusals;
  if (first)
    throw refusalAt(
      first,
      refusals.flatMap(({ place, refusal }) => problemsAt(place, refusal)),
    );
}

function refusalAt({ place, refusal }: { place: number; refusal: AppError }, errors: FieldProblem[]): AppError {
  const { status, code, message, extra } = refusal;
  if (status === 422) return invalid(errors, extra.suggestion);
  return new AppError(status, code, `"emails.${place}": ${message}`, { ...extra, errors });
}

function problemsAt(place: number, { message, extra }: AppError): FieldProblem[] {
  const { errors = [{ field: '', code: 'custom', message }] } = extra;
  return errors.map((error) => ({ ...error, field: `emails.${place}${error.field && `.${error.field}`}` }));
}

async function acceptWhole(
  tx: Database,
  { billing }: BatchDeps,
  project: ProjectFacts,
  items: readonly Item[],
): Promise<BatchResult[] | { overQuota: GrantedQuota }> {
  const mails = items.flatMap((item) => ('mail' in item ? [item.mail] : []));
  const sum = (of: (mail: CheckedMail) => number) => mails.reduce((total, mail) => total + of(mail), 0);
  await checkScheduledBytes(tx, project.id, sum(scheduledBytesOf));
  const overQuota = await overQuotaFor(tx, billing, project, sum(countOf));
  if (overQuota !== null) return { overQuota };
  const results: BatchResult[] = [];
  for (const { place, mail } of await inLockOrder(tx, items))
    try {
      results[place] = { ok: true, emails: sentItems(mail, await acceptAll(tx, project.id, mail)) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw refusalAt({ place, refusal: error }, problemsAt(place, error));
    }
  return results;
}

async function acceptEach(
  tx: Database,
  { billing }: BatchDeps,
  project: ProjectFacts,
  items: readonly Item[],
): Promise<BatchResult[]> {
  const results: BatchResult[] = [];
  for (const [place, item] of items.entries()) if ('refusal' in item) results[place] = refused(item.refusal);
  for (const { place, mail } of await inLockOrder(tx, items)) {
    results[place] = await withSavepoint(tx, async (): Promise<BatchResult> => {
      await checkScheduledBytes(tx, project.id, scheduledBytesOf(mail));
      const overQuota = await overQuotaFor(tx, billing, project, countOf(mail));
      if (overQuota !== null) throw limitExceeded('TRANSACTIONAL', overQuota);
      return { ok: true, emails: sentItems(mail, await acceptAll(tx, project.id, mail)) };
    }).catch((error: unknown) => {
      if (error instanceof AppError) return refused(error);
      throw error;
    });
  }
  return results;
}

function refused({ status: statusCode, code, message, extra }: AppError): BatchResult {
  const { details, errors, suggestion } = extra;
  return { ok: false, error: { code, message, statusCode, details, errors, suggestion } };
}

// Every request locks contacts in the order of their addresses, as Postgres sorts them, or two would wait for each other.
async function inLockOrder(tx: Database, items: readonly Item[]): Promise<Accepted[]> {
  const accepted = items.flatMap((item, place) => ('mail' in item ? [{ place, mail: item.mail }] : []));
  const addresses = accepted.map(({ mail }) => mail.recipients[0]?.email ?? '');
  const order = await tx.rows<{ index: number }>(sql`
    select (n - 1)::int as index from unnest(${addresses}::text[]) with ordinality as a (email, n) order by email, n`);
  return order.flatMap(({ index }) => accepted[index] ?? []);
}
