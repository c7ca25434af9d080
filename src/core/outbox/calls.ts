import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowSignalWithStartOptions,
} from '@temporalio/client';
import {
  type Command,
  type Launch,
  type StartCommand,
  searchAttributePairs,
  taskQueue,
  workflowQueues,
} from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { putSchedule, removeSchedule } from './schedules.ts';

/** How long one call to Temporal may take. */
export const callDeadlineMs = 5000;

/** `absent`: no open execution has the id of this signal or cancellation. */
export type CallOutcome = 'done' | 'existed' | 'absent';

/** Makes one call to Temporal. Safe to repeat. Rejects when Temporal did not take it. */
export async function performCommand(
  temporal: TemporalConnection,
  queuePrefix: string,
  command: Command,
): Promise<CallOutcome> {
  return temporal.within(callDeadlineMs, async () => {
    if (command.type === 'start') return start(temporal, queuePrefix, command);
    if (command.type === 'schedule') {
      await putSchedule(temporal, queuePrefix, command);
      return 'done';
    }
    // A schedule that is gone already is what was asked for.
    if (command.type === 'unschedule') return (await removeSchedule(temporal, command.id)) ? 'done' : 'existed';
    const handle = temporal.client.workflow.getHandle(command.id);
    try {
      if (command.type === 'cancel') await handle.cancel();
      else await handle.signal(command.signal, ...(command.input === undefined ? [] : [command.input]));
      return 'done';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'absent';
      throw error;
    }
  });
}

async function start(temporal: TemporalConnection, queuePrefix: string, command: StartCommand): Promise<CallOutcome> {
  try {
    await temporal.client.workflow.start(command.workflow, {
      ...launchOptions(queuePrefix, command),
      workflowIdReusePolicy: command.restart === undefined ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: command.replace === true ? 'TERMINATE_EXISTING' : 'FAIL',
    });
    return 'done';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'existed';
    throw error;
  }
}

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

/** Whether an execution of this id is open. Rejects when Temporal cannot be asked. */
export async function isOpen(temporal: TemporalConnection, workflowId: string): Promise<boolean> {
  try {
    const handle = temporal.client.workflow.getHandle(workflowId);
    const { status } = await temporal.within(callDeadlineMs, () => handle.describe());
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
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
 * Ends every open execution that says it works for a project, at once and without a word to it: its rows are going away.
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
    await temporal
      .within(callDeadlineMs, () => workflow.getHandle(workflowId, runId).terminate(reason))
      .catch((error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  }
  return ended;
}
