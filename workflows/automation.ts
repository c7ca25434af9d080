import * as wf from '@temporalio/workflow';
import type { AutomationActivities, MigrationActivities, WebhookActivities } from '../activities/automation.ts';
import type { Directive, ShownWait, StepAt } from '../src/automations/runtime/directive.ts';
import type { RunStatus } from '../src/lib/enums.ts';
import { briefly, queries, searchAttribute, siblingQueue, signals } from '../temporal/commands.ts';
import { isHistoryLong, isRequestedCancellation, patiently } from './steps.ts';

const local = wf.proxyLocalActivities<AutomationActivities>({
  startToCloseTimeout: '2 seconds',
  retry: { initialInterval: '100 ms', backoffCoefficient: 2, maximumInterval: '1 second', maximumAttempts: 5 },
});
const patient = wf.proxyActivities<AutomationActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});
const steadily = patiently(local, patient);

/** Says that the row of the run has changed; `seq` is the number that the run waits to be advanced with. */
const resume = wf.defineSignal<[{ seq: number }]>(signals.resume);

/** Where a run is, for the Temporal Web UI; the service reads its rows. */
interface Whereabouts {
  status: RunStatus | 'GONE';
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
interface AutomationInput {
  executionId: string;
  /** Where a run of this workflow left off; absent for what the row says. */
  seq?: number;
  /** The wait that the search attributes of the start show. */
  shown?: ShownWait;
}

/** How a run ended. A run that failed completes its execution: only faults of our own fail that. */
interface AutomationResult {
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
export async function automation(input: AutomationInput): Promise<AutomationResult> {
  const run = new Run(input);
  try {
    return await run.advance();
  } catch (error) {
    if (isRequestedCancellation(error)) await wf.CancellationScope.nonCancellable(() => run.cancel());
    throw error;
  }
}

type Waiting = Exclude<Directive, { next: 'done' | 'goOn' }> & { isShown?: boolean };

/** One execution: what it remembers between its steps. */
class Run {
  readonly #executionId: string;
  readonly #http: wf.ActivityInterfaceFor<WebhookActivities>;
  readonly #at: Whereabouts;
  #seq: number | null;
  #shown: ShownWait | undefined;
  /** The highest number that a signal has named since the last step began. */
  #woken = -1;
  /** The value of the search attributes: RUNNING since the start, unless an answer says otherwise. That of an earlier run is not known here. */
  #marked = wf.workflowInfo().continuedFromExecutionRunId === undefined ? 'RUNNING||' : '';

  constructor({ executionId, seq, shown }: AutomationInput) {
    this.#executionId = executionId;
    this.#seq = seq ?? null;
    this.#shown = shown;
    this.#at = { status: 'RUNNING', step: null, seq: this.#seq, waitingFor: null, until: null };
    wf.setHandler(resume, (signal) => {
      this.#woken = Math.max(this.#woken, signal.seq);
    });
    wf.setHandler(where, () => this.#at);
    this.#http = wf.proxyActivities<WebhookActivities>({
      taskQueue: siblingQueue(wf.workflowInfo().taskQueue, 'http'),
      startToCloseTimeout: '65 seconds',
      heartbeatTimeout: '15 seconds',
      retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
    });
  }

  async advance(): Promise<AutomationResult> {
    const executionId = this.#executionId;
    for (;;) {
      // Signals from here on may be about something that this step does not see yet.
      this.#woken = -1;
      const { step } = this.#at;
      const summary = step === null ? 'go on where the row stands' : `go on after "${briefly(step.name, 100)}"`;
      const directive = await steadily((steps) =>
        steps.advanceRun.executeWithOptions({ summary }, [executionId, this.#seq, this.#shown]),
      );
      this.#shown = undefined;
      // Only the answer tells: a worker of an earlier release, which may have begun this execution, knows nothing of the wait in the input and
      // has set the attributes itself.
      if (directive.isShown === false) this.#marked = '';
      const { seq } = directive;
      this.#seq = seq;
      if (directive.next === 'done') return this.#end(directive);
      if (isHistoryLong()) await wf.continueAsNew<typeof automation>({ executionId, seq });
      if (directive.next !== 'goOn') await this.#act(directive);
    }
  }

  /** Cancels the row of the run. */
  cancel(): Promise<void> {
    return steadily((steps) => steps.cancelRun.executeWithOptions({ summary: 'cancel the run' }, [this.#executionId]));
  }

  async #act(directive: Waiting): Promise<void> {
    this.#show(directive);
    if (directive.next === 'http') {
      await this.#http.callWebhook.executeWithOptions({ summary: directive.summary }, [directive.stepRunId]);
      return;
    }
    const isWoken = () => this.#woken >= directive.seq;
    if (directive.until === null) return wf.condition(isWoken);
    // The time until an absolute instant is right after any outage. Where the clock of the database is behind ours, the
    // instant has passed here only, and is waited for in small steps.
    const remaining = Math.max(shortestWaitMs, Date.parse(directive.until) - Date.now());
    await wf.condition(isWoken, remaining, { summary: directive.summary });
  }

  #show(directive: Waiting): void {
    const { next, step, seq } = directive;
    const at = Object.assign(this.#at, {
      status: next === 'http' ? 'RUNNING' : 'WAITING',
      step,
      seq,
      waitingFor: next === 'wait' ? directive.event : next === 'sleep' ? 'timer' : 'webhook',
      until: next === 'http' ? null : directive.until,
    } as const);
    const until = at.until === null ? '' : ` until ${at.until}`;
    wf.setCurrentDetails(`**${at.status}** · ${directive.summary} · since ${step.since}${until}`);
    const mark = [at.status, next === 'http' ? null : at.waitingFor, at.until] as const;
    if (directive.isShown) this.#marked = markOf(...mark);
    this.#mark(...mark);
  }

  #end({ status, reason, stepId }: Directive & { next: 'done' }): AutomationResult {
    Object.assign(this.#at, { status, waitingFor: null, until: null });
    wf.setCurrentDetails(`**${status}**${reason === null ? '' : ` · ${reason}`}`);
    this.#mark(status, null, null);
    return { status, ...(reason === null ? {} : { reason }), ...(stepId === null ? {} : { stepId }) };
  }

  // Each change is an event and a write to the visibility store.
  #mark(state: string, waitingFor: string | null, dueAt: string | null): void {
    const key = markOf(state, waitingFor, dueAt);
    if (key === this.#marked) return;
    this.#marked = key;
    wf.upsertSearchAttributes([
      { key: searchAttribute.State, value: state },
      { key: searchAttribute.WaitingFor, value: waitingFor },
      { key: searchAttribute.DueAt, value: dueAt === null ? null : new Date(dueAt) },
    ]);
  }
}

function markOf(state: string, waitingFor: string | null, dueAt: string | null): string {
  return `${state}|${waitingFor ?? ''}|${dueAt ?? ''}`;
}

const { movePeopleOfAutomation, cancelMigration } = wf.proxyActivities<MigrationActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Migrates the contacts inside an automation to another version of its graph, share after share. The row holds plan, place and
 * counts; cancelling the execution in the Web UI cancels the row. Answers how many contacts this execution has read.
 */
export async function migrateAutomation({ migrationId }: { migrationId: string }): Promise<number> {
  let people = 0;
  try {
    for (;;) {
      const share = await movePeopleOfAutomation(migrationId);
      people += share.people;
      wf.setCurrentDetails(`${people} contacts checked`);
      if (share.state !== 'unfinished') return people;
      if (isHistoryLong()) await wf.continueAsNew<typeof migrateAutomation>({ migrationId });
    }
  } catch (error) {
    if (wf.isCancellation(error)) await wf.CancellationScope.nonCancellable(() => cancelMigration(migrationId));
    throw error;
  }
}
