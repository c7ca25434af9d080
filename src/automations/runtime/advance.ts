import type { BillingSettings } from '../../billing/service.ts';
import type { Database } from '../../store/sql.ts';
import type { Directive } from './directive.ts';
import { QuotaNeeded, type QuotaRequest, reserveMailQuota } from './quota.ts';
import { awaitedEvent, type LockedRun, lockContactOf, lockOpenStepRun, lockRun, type StepRun } from './run-queries.ts';
import { walk } from './walk.ts';

/** The dependencies of advancing runs. */
export interface AdvanceDeps {
  db: Database;
  billing: BillingSettings;
  /** Says that a project has mail in its queue; called after the commit. */
  wake(projectId: string): void;
}

interface Advanced {
  directive: Directive;
  /** The project whose delivery is to be woken, or null. */
  mailFor: string | null;
}

// Each step of one transaction may ask for quota once; beyond that others move the run at the same time.
const mostAttempts = 60;

/**
 * Moves a run on, in one transaction, as far as it goes without waiting, and answers what its execution does next (
 * docs/contract/campaigns-and-workflows.md#4-6). `seq` is what the last directive said; null stands for what the row says. May be
 * repeated: a number that the run has left behind changes nothing and answers what the run waits for now.
 */
export async function advance(deps: AdvanceDeps, runId: string, seq: number | null): Promise<Directive> {
  let requests: QuotaRequest[] = [];
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    try {
      const { directive, mailFor } = await deps.db.transaction((tx) => move(deps, tx, runId, seq, requests));
      if (mailFor !== null) deps.wake(mailFor);
      return directive;
    } catch (error) {
      if (error instanceof QuotaNeeded) requests = [...requests, error.request];
      else if (error instanceof QuotaLeft) requests = [];
      else throw error;
    }
  }
  throw new Error(`The run ${runId} changes faster than it can be moved on`);
}

// Quota was reserved that the transaction did not use: it is rolled back.
class QuotaLeft extends Error {}

async function move(
  deps: AdvanceDeps,
  tx: Database,
  runId: string,
  seq: number | null,
  requests: readonly QuotaRequest[],
): Promise<Advanced> {
  const quota = await reserveMailQuota(tx, deps.billing, requests);
  const contact = await lockContactOf(tx, runId);
  const run = await lockRun(tx, runId);
  if (run === null || contact === null) {
    if (!quota.isUsedUp()) throw new QuotaLeft();
    return { directive: { next: 'done', seq: seq ?? 0, status: 'GONE', reason: null, stepId: null }, mailFor: null };
  }
  const open = run.seq === 0 ? null : await lockOpenStepRun(tx, run.id, run.seq);
  const mayAct = seq === null || seq === run.seq;
  if (open !== null && mayAct && !run.project.disabled) await testAwaited(tx, run, open);
  const { directive, hasMail } = await walk({ tx, run, contact, quota }, open, mayAct);
  if (!quota.isUsedUp()) throw new QuotaLeft();
  return { directive, mailFor: hasMail ? run.projectId : null };
}

// Events that have to pass tests do not end a wait by themselves, and those since the entry may have come before it began.
async function testAwaited(tx: Database, run: LockedRun, open: StepRun): Promise<void> {
  const { id, stepType, outcome, eventName, input, resumeEventId } = open;
  if (stepType !== 'WAIT_FOR_EVENT' || outcome !== null || eventName === null) return;
  const since = input?.countsFrom === 'entry' ? 'entry' : { eventId: resumeEventId ?? '' };
  if (since !== 'entry' && resumeEventId === null) return;
  const met = await awaitedEvent(tx, run, { eventName, where: input?.where, since, wait: id });
  Object.assign(open, { resumeEventId: met, outcome: met === null ? null : 'EVENT' });
}
