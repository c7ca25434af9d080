import { jsonType } from '@fernpost/validation';
import { type Database, limitingKey } from '../../core/database/sql.ts';
import { withoutDangerousKeys } from '../../core/lib/contact-data.ts';
import { AppError, badRequest, conflict, invalidField, notFound } from '../../core/lib/errors.ts';
import { isUuid } from '../../core/lib/ids.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import type { Changed } from '../changed.ts';
import { findAutomation, found } from '../queries.ts';
import { keepSenders } from '../revision.ts';
import { executionBody } from '../rows.ts';
import type { ExecutionBody, StartExecution } from '../runs/schema.ts';
import { type StartOutcome, startRuns } from './starting.ts';

/** The largest context of a run, as characters of JSON. */
const maxContextLength = 64 * 1024;

/**
 * Starts a run by hand (docs/contract/campaigns-and-workflows.md#3-5): the checks in their order, then everything in one
 * transaction.
 * @throws 404, 422 for the context, 400 while disabled, 409 by the rule of re-entry, 429 by the guard against loops
 */
export async function startExecution(
  db: Database,
  projectId: string,
  automationId: string,
  body: StartExecution,
  startsPerHour: number,
): Promise<Changed<ExecutionBody>> {
  const automation = found(await findAutomation(db, projectId, automationId), automationId);
  const context = readContext(body.context);
  if (!automation.enabled) throw badRequest('The workflow is disabled: enable it before you enroll contacts');
  const { contactId } = body;
  if (!isUuid(contactId)) throw notFound('contact', contactId);
  const wish = { contactId: contactId.toLowerCase(), context, sourceEventId: null, limitedBy: limitingKey(db) };
  const { outcomes, tickets } = await db
    .transaction(async (tx) => {
      await keepSenders(tx, automationId);
      return startRuns(tx, projectId, automationId, [wish], startsPerHour);
    })
    .catch((error: unknown) => {
      // The workflow was deleted after it was read and before its run was written.
      if (isForeignKeyViolation(error)) throw notFound('workflow', automationId);
      throw error;
    });
  const [made] = outcomes;
  if (made?.run) return { body: executionBody(made.run), tickets };
  // Only now: the count of what the guard refused is committed.
  throw refusal(made?.outcome ?? 'gone', contactId, startsPerHour);
}

function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === '23503';
}

function readContext(context: unknown): Record<string, unknown> | null {
  if (context === undefined || context === null) return null;
  if (typeof context !== 'object' || Array.isArray(context))
    throw invalidField('context', 'must be an object', 'invalid_type', jsonType(context));
  if (JSON.stringify(context).length > maxContextLength)
    throw invalidField('context', 'must be at most 64 KiB of JSON', 'too_big');
  return withoutDangerousKeys(context as JsonObjectValue) as Record<string, unknown>;
}

function refusal(outcome: StartOutcome, contactId: string, startsPerHour: number): AppError {
  switch (outcome) {
    case 'reentry':
      return conflict('The contact has already been in this workflow, which does not allow re-entry', { contactId });
    case 'active':
      return conflict('The contact is already in this workflow', { contactId });
    case 'refused':
      return new AppError(
        429,
        'RATE_LIMIT_EXCEEDED',
        `The contact entered this workflow ${startsPerHour} times within an hour, which is the limit: try again later`,
        { details: { contactId, limit: startsPerHour }, headers: { 'Retry-After': '60' } },
      );
    default:
      return notFound('contact', contactId);
  }
}
