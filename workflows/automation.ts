import * as wf from '@temporalio/workflow';
import type { AutomationActivities, WebhookActivities } from '../activities/automation.ts';
import type { Directive, StepAt } from '../src/automations/index.ts';
import { briefly, queries, searchAttribute, siblingQueue, signals } from '../temporal/commands.ts';

const local = wf.proxyLocalActivities<AutomationActivities>({
  startToCloseTimeout: '2 seconds',
  retry: { initialInterval: '100 ms', backoffCoefficient: 2, maximumInterval: '1 second', maximumAttempts: 5 },
});
// What a local activity could not do in its few seconds is done by the same function without that limit.
const patient = wf.proxyActivities<AutomationActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Says that the row of the run has changed; `seq` is the number that the run waits to be advanced with. */
const resume = wf.defineSignal<[{ seq: number }]>(signals.resume);

/** Where a run is, for the Temporal Web UI; the service reads its rows. */
interface Whereabouts {
  status: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED' | 'GONE';
  step: StepAt | null;
  seq: number | null;
  /** The event, or `timer`, or `webhook`. */
  waitingFor: string | null;
  /** ISO instant. */
  until: string | null;
}
/** Answers `Whereabouts`. */
const where = wf.defineQuery<Whereabouts>(queries.where);

/** The input of an execution. The rows hold everything else. */
export interface AutomationInput {
  executionId: string;
  /** Where a run of this workflow left off; absent for what the row says. */
  seq?: number;
}

/** How a run ended. A run that failed completes its execution: only faults of our own fail that. */
export interface AutomationResult {
  status: Whereabouts['status'];
  /** The EXIT's reason, or what went wrong. */
  reason?: string;
  stepId?: string;
}

const shortestWaitMs = 50;

/**
 * Takes one contact through an automation. It knows no graph: `advanceRun` moves the rows on and says what to wait for. All
 * state is in the rows, so that an execution may be killed, cancelled or started again at any moment; a signal only says
 * "re-check the row". Cancelling it in the Web UI cancels the run.
 */
export async function automation({ executionId, seq: begin }: AutomationInput): Promise<AutomationResult> {
  let heard = -1;
  wf.setHandler(resume, ({ seq }) => {
    heard = Math.max(heard, seq);
  });
  const at: Whereabouts = { status: 'RUNNING', step: null, seq: begin ?? null, waitingFor: null, until: null };
  wf.setHandler(where, () => at);
  // What the search attributes say; the start has set RUNNING, and what an earlier run has set is not known here.
  let marked = wf.workflowInfo().continuedFromExecutionRunId === undefined ? 'RUNNING||' : '';
  const http = wf.proxyActivities<WebhookActivities>({
    taskQueue: siblingQueue(wf.workflowInfo().taskQueue, 'http'),
    startToCloseTimeout: '65 seconds',
    heartbeatTimeout: '15 seconds',
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
  });

  try {
    return await run();
  } catch (error) {
    if (wf.isCancellation(error))
      await wf.CancellationScope.nonCancellable(() =>
        steadily((steps) => steps.cancelRun.executeWithOptions({ summary: 'cancel the run' }, [executionId])),
      );
    throw error;
  }

  async function run(): Promise<AutomationResult> {
    for (let seq = begin ?? null; ; ) {
      // Whatever is heard from here on may be of something that this step does not see yet.
      heard = -1;
      const summary = at.step === null ? 'go on where the row stands' : `go on after "${briefly(at.step.name, 100)}"`;
      const directive = await steadily((steps) => steps.advanceRun.executeWithOptions({ summary }, [executionId, seq]));
      seq = directive.seq;
      if (directive.next === 'done') return end(directive);
      if (wf.workflowInfo().continueAsNewSuggested) await wf.continueAsNew<typeof automation>({ executionId, seq });
      if (directive.next !== 'goOn') await act(directive);
    }
  }

  async function act(directive: Waiting): Promise<void> {
    show(directive);
    if (directive.next === 'http') {
      await http.callWebhook.executeWithOptions({ summary: directive.summary }, [directive.stepRunId]);
      return;
    }
    const isWoken = () => heard >= directive.seq;
    if (directive.until === null) return wf.condition(isWoken);
    // What remains of an absolute instant is right after any outage. Where the clock of the database is behind ours, the
    // instant has passed here only, and is waited for in small steps.
    const remaining = Math.max(shortestWaitMs, Date.parse(directive.until) - Date.now());
    await wf.condition(isWoken, remaining, { summary: directive.summary });
  }

  function show(directive: Waiting): void {
    const { next, step, seq } = directive;
    at.status = next === 'http' ? 'RUNNING' : 'WAITING';
    at.step = step;
    at.seq = seq;
    at.waitingFor = next === 'wait' ? directive.event : next === 'sleep' ? 'timer' : 'webhook';
    at.until = next === 'http' ? null : directive.until;
    const until = at.until === null ? '' : ` until ${at.until}`;
    wf.setCurrentDetails(`**${at.status}** · ${directive.summary} · since ${step.since}${until}`);
    mark(at.status, next === 'http' ? null : at.waitingFor, at.until);
  }

  function end({ status, reason, stepId }: Directive & { next: 'done' }): AutomationResult {
    Object.assign(at, { status, waitingFor: null, until: null });
    wf.setCurrentDetails(`**${status}**${reason === null ? '' : ` · ${reason}`}`);
    mark(status, null, null);
    return { status, ...(reason === null ? {} : { reason }), ...(stepId === null ? {} : { stepId }) };
  }

  // Each change is an event and a write to the visibility store.
  function mark(state: string, waitingFor: string | null, dueAt: string | null): void {
    const key = `${state}|${waitingFor ?? ''}|${dueAt ?? ''}`;
    if (key === marked) return;
    marked = key;
    wf.upsertSearchAttributes([
      { key: searchAttribute.State, value: state },
      { key: searchAttribute.WaitingFor, value: waitingFor },
      { key: searchAttribute.DueAt, value: dueAt === null ? null : new Date(dueAt) },
    ]);
  }

  async function steadily<T>(step: (steps: typeof local | typeof patient) => Promise<T>): Promise<T> {
    try {
      return await step(local);
    } catch (error) {
      if (wf.isCancellation(error)) throw error;
      return step(patient);
    }
  }
}

type Waiting = Exclude<Directive, { next: 'done' | 'goOn' }>;
