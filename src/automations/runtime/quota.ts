import { briefly } from '../../../temporal/commands.ts';
import { type BillingSettings, reserveMail } from '../../billing/service.ts';
import { dailyLimit, limitReached, projectBilling, usageCategory, usageGate } from '../../billing/usage-queries.ts';
import type { UsageCategory } from '../../projects/queries.ts';
import type { Database } from '../../store/sql.ts';
import { type Directive, type StepAt, StepFailure } from './directive.ts';
import type { MailKind } from './mail-step.ts';
import type { StepRun } from './run-queries.ts';

/** Whether a step that a run is in goes on waiting, by the clock of the database. */
export function waitsStill(
  { stepType, scheduledFor, executeAfter, outcome, output, error }: StepRun,
  now: string,
): boolean {
  if (stepType === 'DELAY') return scheduledFor !== null && scheduledFor > now;
  if (stepType === 'WAIT_FOR_EVENT') return outcome === null && (executeAfter === null || executeAfter > now);
  return output === null && error === null;
}

const recheckMs = 30_000;

/**
 * The ISO instant at which a step that waits is to be looked at, or null where only an event ends it. One that waits for an instant is left at the turn
 * of the contact. An event whose transaction was under way
 * while a wait that counts from the entry began has not been found by either: such a wait checks for it once more.
 */
export function dueOf(
  { stepType, input, startedAt, executeAfter, scheduledFor, turnMs }: StepRun,
  now: string,
): string | null {
  if (scheduledFor !== null) return new Date(Date.parse(scheduledFor) + turnMs).toISOString();
  if (stepType !== 'WAIT_FOR_EVENT' || input?.countsFrom !== 'entry') return executeAfter;
  const again = new Date(Date.parse(startedAt) + recheckMs).toISOString();
  return again > now && (executeAfter === null || again < executeAfter) ? again : executeAfter;
}

/** Returns what the execution of an active run does now, from its rows alone. */
export function standing(seq: number, open: StepRun | null, now: string): Directive {
  if (open === null) return { next: 'goOn', seq };
  const step: StepAt = { id: open.stepId, type: open.stepType, name: open.stepName, since: open.startedAt };
  if (open.stepType === 'DELAY' && open.scheduledFor !== null)
    return { next: 'sleep', seq, until: open.scheduledFor, step, summary: delaySummary(open) };
  if (open.stepType === 'WAIT_UNTIL') return untilDirective(seq, open, step, now);
  if (open.stepType === 'WAIT_FOR_EVENT' && open.outcome === null && open.eventName !== null)
    return {
      next: 'wait',
      seq,
      until: dueOf(open, now),
      event: open.eventName,
      step,
      summary: `wait for ${briefly(open.eventName, 50)} · ${place(open)}`,
    };
  if (open.stepType === 'WEBHOOK' && open.output === null && open.error === null)
    return { next: 'http', seq, stepRunId: open.id, step, summary: `webhook · ${place(open)}` };
  return { next: 'goOn', seq };
}

// Without an instant only a change of the contact moves the run.
function untilDirective(seq: number, open: StepRun, step: StepAt, now: string): Directive {
  const until = dueOf(open, now);
  const what = briefly(String(open.input?.field ?? open.input?.time ?? ''), 50);
  const facts = { seq, step, summary: `wait until ${what} · ${place(open)}` };
  return until === null ? { ...facts, next: 'wait', until, event: what } : { ...facts, next: 'sleep', until };
}

function delaySummary(open: StepRun): string {
  const { amount, unit } = open.input ?? {};
  return `delay ${amount} ${unit} · ${place(open)}`;
}

function place({ stepId, stepName }: StepRun): string {
  return `"${briefly(stepName, 50)}" (${stepId})`;
}

/** A mail that a step is going to send, by what it counts as. */
export interface QuotaRequest {
  stepId: string;
  projectId: string;
  category: UsageCategory;
}

/** The mail of a step has to be counted against a limit before the transaction locks anything else: it restarts with that. */
export class QuotaNeeded extends Error {
  readonly request: QuotaRequest;

  constructor(request: QuotaRequest) {
    super('Quota for a mail has to be reserved first');
    this.request = request;
  }
}

/** The quota that a transaction has reserved for the mail of its steps. */
export interface MailQuota {
  /** @throws StepFailure where the limit is reached, QuotaNeeded where none was reserved at the beginning */
  take(stepId: string, projectId: string, kind: MailKind): Promise<void>;
  /** Whether every reservation was used: else the transaction must not commit, for it counted mail that nobody sends. */
  isUsedUp(): boolean;
}

/**
 * Reserves quota for the mails that a transaction is known to send, at its beginning, because whoever sends mail under a limit
 * counts it before it locks contacts. Where no limit holds nothing is counted, and `take` only reads the project.
 */
export async function reserveMailQuota(
  tx: Database,
  billing: BillingSettings,
  requests: readonly QuotaRequest[],
): Promise<MailQuota> {
  const reserved = new Map<string, boolean>();
  for (const { stepId, projectId, category } of requests) {
    const { granted } = await reserveMail(tx, billing, { projectId, category, count: 1 });
    reserved.set(stepId, granted > 0);
  }
  return {
    async take(stepId, projectId, { sourceType, messageClass }) {
      const isGranted = reserved.get(stepId);
      if (isGranted !== undefined) {
        reserved.delete(stepId);
        if (!isGranted) throw new StepFailure(limitReached);
        return;
      }
      const category = usageCategory(sourceType, messageClass);
      const facts = await projectBilling(tx, projectId);
      if (facts === null) return;
      const hasLimit =
        usageGate(facts, category, billing.freeTier) !== null || dailyLimit(facts, category, billing) !== null;
      if (hasLimit) throw new QuotaNeeded({ stepId, projectId, category });
    },
    isUsedUp: () => reserved.size === 0,
  };
}
