import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowSignalWithStartOptions,
} from '@temporalio/client';
import pLimit from 'p-limit';
import {
  type Command,
  type Launch,
  type StartCommand,
  searchAttributePairs,
  taskQueue,
  workflowQueues,
} from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { expecting } from '../../lib/errors.ts';
import { traced, untraced } from '../../lib/telemetry.ts';
import { putSchedule, removeSchedule } from './schedules.ts';

/** How many calls may be under way at once, found by trying: what the server refuses halves it, what it takes raises it. */
export class ConcurrencyLimit {
  readonly #most: number;
  readonly #limited: ReturnType<typeof pLimit>;
  #taken = 0;

  /** Begins at, and never goes above, `most` calls. */
  constructor(most: number) {
    this.#most = most;
    this.#limited = pLimit(most);
  }

  /** Runs the call as soon as the limit allows. */
  run<T>(call: () => Promise<T>): Promise<T> {
    return this.#limited(async () => {
      const result = await call();
      // One step up for each full round of calls that the server took.
      if (++this.#taken >= this.limit) this.#change(this.limit + 1);
      return result;
    });
  }

  /** The server said that it has too much to do. */
  slower(): void {
    this.#change(Math.floor(this.limit / 2));
  }

  /** The present limit. */
  get limit(): number {
    return this.#limited.concurrency;
  }

  #change(limit: number): void {
    this.#taken = 0;
    this.#limited.concurrency = Math.max(1, Math.min(this.#most, limit));
  }
}

/** How long one call to Temporal may take. */
export const callDeadlineMs = 5000;

/** `absent`: no open execution has the id of this signal or cancellation. */
export type CallOutcome = 'done' | 'existed' | 'absent';

/** Makes one call to Temporal, in the trace of the request that asked for it. Safe to repeat. Rejects when Temporal did not take it. */
export async function performCommand(
  temporal: TemporalConnection,
  queuePrefix: string,
  command: Command,
): Promise<CallOutcome> {
  const { type, id, trace } = command;
  const call = () => makeCall(temporal, queuePrefix, command);
  // Whoever makes the call may be at work for another request.
  if (trace === undefined) return untraced(call);
  return traced(`outbox ${type}`, { kind: 'producer', parent: trace, facts: { 'temporal.workflow.id': id } }, call);
}

function makeCall(temporal: TemporalConnection, queuePrefix: string, command: Command): Promise<CallOutcome> {
  return temporal.within(callDeadlineMs, async () => {
    if (command.type === 'start') return start(temporal, queuePrefix, command);
    if (command.type === 'schedule') {
      await putSchedule(temporal, command, launchOptions(queuePrefix, command.launch));
      return 'done';
    }
    // A schedule that is gone already is what was asked for.
    if (command.type === 'unschedule') return (await removeSchedule(temporal, command.id)) ? 'done' : 'existed';
    const handle = temporal.client.workflow.getHandle(command.id);
    const made: Promise<unknown> =
      command.type === 'cancel'
        ? handle.cancel()
        : handle.signal(command.signal, ...(command.input === undefined ? [] : [command.input]));
    return expecting<CallOutcome>(
      isUnknownExecution,
      'absent',
      made.then(() => 'done'),
    );
  });
}

function start(temporal: TemporalConnection, queuePrefix: string, command: StartCommand): Promise<CallOutcome> {
  const started = temporal.client.workflow.start(command.workflow, {
    ...launchOptions(queuePrefix, command),
    workflowIdReusePolicy: command.restart === undefined ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: command.replace === true ? 'TERMINATE_EXISTING' : 'FAIL',
  });
  const isStarted = (error: unknown) => error instanceof WorkflowExecutionAlreadyStartedError;
  return expecting<CallOutcome>(
    isStarted,
    'existed',
    started.then(() => 'done'),
  );
}

const isUnknownExecution = (error: unknown) => error instanceof WorkflowNotFoundError;

/** Signals the open execution of the id, or starts one and signals that; an ended one does not count. */
export async function signalOrStart(
  temporal: TemporalConnection,
  queuePrefix: string,
  launch: Launch,
  signal: string,
): Promise<void> {
  const options: WorkflowSignalWithStartOptions = {
    ...launchOptions(queuePrefix, launch),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    signal,
  };
  await temporal.within(callDeadlineMs, () => temporal.client.workflow.signalWithStart(launch.workflow, options));
}

/** The status of an execution, the latest of its id without a `runId`; null for an unknown one. Rejects when Temporal cannot be asked. */
function statusOf(temporal: TemporalConnection, workflowId: string, runId?: string): Promise<string | null> {
  const handle = temporal.client.workflow.getHandle(workflowId, runId);
  const described = temporal.within(callDeadlineMs, () => handle.describe());
  return expecting<string | null>(
    isUnknownExecution,
    null,
    described.then(({ status }) => status.name),
  );
}

/** Whether an execution of this id is open. Rejects when Temporal cannot be asked. */
export async function isOpen(temporal: TemporalConnection, workflowId: string): Promise<boolean> {
  const status = await statusOf(temporal, workflowId);
  return status === 'RUNNING' || status === 'PAUSED';
}

/** Whether Temporal knows an execution, open or closed. Rejects when it cannot be asked. */
export async function isKnown(
  temporal: TemporalConnection,
  pass: { workflowId: string; runId: string },
): Promise<boolean> {
  return (await statusOf(temporal, pass.workflowId, pass.runId)) !== null;
}

function launchOptions(queuePrefix: string, launch: Launch) {
  return {
    workflowId: launch.id,
    taskQueue: taskQueue(queuePrefix, workflowQueues[launch.workflow]),
    args: [launch.input],
    ...(launch.searchAttributes === undefined
      ? {}
      : { typedSearchAttributes: searchAttributePairs(launch.searchAttributes) }),
    ...(launch.memo === undefined ? {} : { memo: { ...launch.memo } }),
    ...(launch.staticSummary === undefined ? {} : { staticSummary: cutBytes(launch.staticSummary, 200) }),
    ...(launch.staticDetails === undefined ? {} : { staticDetails: cutBytes(launch.staticDetails, 20_000) }),
  };
}

/** Cuts a text to so many bytes of UTF-8 without cutting through a character. */
export function cutBytes(text: string, bytes: number): string {
  const all = Buffer.from(text);
  if (all.length <= bytes) return text;
  // A cut character decodes to U+FFFD at the end; a stream decoder leaves it out instead.
  return new TextDecoder().decode(all.subarray(0, bytes), { stream: true });
}

/**
 * Terminates every open execution that names a project, because its rows are going away.
 * Answers how many were found; the list of Temporal lags behind by moments. Rejects when Temporal cannot be asked.
 */
export async function endExecutionsOf(
  temporal: TemporalConnection,
  projectId: string,
  reason: string,
): Promise<number> {
  const { workflow } = temporal.client;
  let ended = 0;
  const query = `ProjectId = '${projectId}' and ExecutionStatus = 'Running'`;
  for await (const { workflowId, runId } of workflow.list({ query, pageSize: 200 })) {
    ended += 1;
    const ending = temporal.within(callDeadlineMs, () => workflow.getHandle(workflowId, runId).terminate(reason));
    await expecting<unknown>(isUnknownExecution, undefined, ending);
  }
  return ended;
}
