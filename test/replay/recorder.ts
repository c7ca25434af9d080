import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection, Worker } from '@temporalio/worker';
import { workflowBundle } from '../../src/main/worker/workflow-bundle.ts';
import { performCommand, signalOrStart } from '../../src/store/outbox/calls.ts';
import { type QueueKind, signals, taskQueue, workflowQueues } from '../../temporal/commands.ts';
import type { TemporalConnection } from '../../temporal/connection.ts';
import type { Answer, Hand, ReplayCase } from './cases/case.ts';

const queuePrefix = 'fernpost';

/** Makes executions go the ways of cases. Use with `await using`. */
export interface Recorder extends AsyncDisposable {
  /** Runs a case and answers the history of each of its runs. Rejects when it took another way than it says. */
  record(one: ReplayCase): Promise<History[]>;
}

/** Serves the workflows of the service with activities that answer what the cases say. */
export async function startRecorder(temporal: TemporalConnection, cases: readonly ReplayCase[]): Promise<Recorder> {
  const open = new Map<string, Play>();
  const names = new Set(cases.flatMap(({ answers }) => Object.keys(answers)));
  const activities = Object.fromEntries(
    Array.from(names, (name) => [
      name,
      () => {
        const play = open.get(activityInfo().workflowExecution?.workflowId ?? '');
        if (play === undefined) throw ApplicationFailure.nonRetryable('This execution is of no case');
        return play.answer(name);
      },
    ]),
  );
  const [connection, bundle] = await Promise.all([
    NativeConnection.connect({ address: temporal.settings.address }),
    workflowBundle(),
  ]);
  const workers = await Promise.all(
    // Webhooks have a queue on which no workflow runs.
    Array.from(new Set<QueueKind>([...Object.values(workflowQueues), 'http']), (kind) =>
      Worker.create({
        connection,
        namespace: temporal.settings.namespace,
        taskQueue: taskQueue(queuePrefix, kind),
        workflowBundle: bundle,
        activities,
        // A cancellation is learned from heartbeats, which otherwise wait for most of the heartbeat timeout.
        maxHeartbeatThrottleInterval: 50,
      }),
    ),
  );
  const running = Promise.all(workers.map((worker) => worker.run()));
  running.catch(() => undefined);

  return {
    async record(one) {
      const { id } = one.launch;
      const handle = temporal.client.workflow.getHandle(id);
      const hand: Hand = {
        wake: () => handle.signal(signals.wake),
        resume: (seq) => handle.signal(signals.resume, { seq }),
        cancel: async () => void (await handle.cancel()),
      };
      const play = playOf(one, hand);
      open.set(id, play);
      if (one.byWake) await signalOrStart(temporal, queuePrefix, one.launch, signals.wake);
      else await performCommand(temporal, queuePrefix, { type: 'start', ...one.launch });
      if (one.atTimer !== undefined || one.ends === 'RUNNING') await timerOf(temporal, id);
      await one.atTimer?.(hand);
      // How it ended is compared below.
      if (one.ends !== 'RUNNING') await handle.result().catch(() => undefined);

      const histories = await runsOf(temporal, id);
      const { status } = await handle.describe();
      const faults = play.faults();
      if (status.name !== one.ends) faults.push(`it is ${status.name} and not ${one.ends}`);
      if (histories.length !== (one.runs ?? 1)) faults.push(`it took ${histories.length} runs`);
      if (faults.length > 0) throw new Error(`${one.name}: ${faults.join('; ')}`);
      return histories;
    },
    async [Symbol.asyncDispose]() {
      for (const worker of workers) worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

interface Play {
  answer(activity: string): Promise<unknown>;
  /** What the execution asked beyond the script, and what it did not ask. */
  faults(): string[];
}

function playOf({ answers }: ReplayCase, hand: Hand): Play {
  const left = new Map<string, Answer<unknown>[]>(Object.entries(answers).map(([name, list]) => [name, [...list]]));
  const beyond: string[] = [];
  return {
    async answer(activity) {
      const list = left.get(activity) ?? [];
      if (list.length === 0) {
        beyond.push(`${activity} was called once more than the case says`);
        throw ApplicationFailure.nonRetryable('The case ends here');
      }
      const next = list.shift();
      return typeof next === 'function' ? next(hand) : next;
    },
    faults: () => [
      ...beyond,
      ...Array.from(left, ([name, list]) => ({ name, count: list.length }))
        .filter(({ count }) => count > 0)
        .map(({ name, count }) => `${count} answers of ${name} were not asked for`),
    ],
  };
}

async function timerOf({ client }: TemporalConnection, id: string): Promise<void> {
  for (;;) {
    const { events } = await client.workflow.getHandle(id).fetchHistory();
    if (events?.some((event) => event.timerStartedEventAttributes)) return;
    await sleep(20);
  }
}

async function runsOf({ client }: TemporalConnection, id: string): Promise<History[]> {
  const { events } = await client.workflow.getHandle(id).fetchHistory();
  const histories: History[] = [];
  let runId = events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId;
  while (runId) {
    const history = await client.workflow.getHandle(id, runId).fetchHistory();
    histories.push(history);
    runId = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return histories;
}
