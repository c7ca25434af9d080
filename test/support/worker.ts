import { randomBytes } from 'node:crypto';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { inject } from 'vitest';
import { expecting } from '../../src/lib/errors.ts';
import { installTemporalRuntime } from '../../src/main/worker/temporal-workers.ts';
import { traceActivities } from '../../src/main/worker/worker-metrics.ts';
import { workflowBundle } from '../../src/main/worker/workflow-bundle.ts';
import { type CallOutcome, performCommand } from '../../src/store/outbox/calls.ts';
import { type Command, type QueueKind, taskQueue, workflowQueues } from '../../temporal/commands.ts';
import { openTemporal, type TemporalConnection } from '../../temporal/connection.ts';
import { prepareNamespace } from '../../temporal/setup.ts';
import { eventually } from '../../tools/local-stack/test/fakes.ts';

// Names the values that `inject` knows.

/** A client on the test server with task queues that no other test serves. */
export interface TestTemporal extends AsyncDisposable {
  temporal: TemporalConnection;
  client: Client;
  /** Takes the place of the setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  /** Makes one call as the outbox would. */
  perform(command: Command): Promise<CallOutcome>;
  /** Waits for an execution to begin and to end, and answers its result; rejects when it failed. */
  result<T = unknown>(workflowId: string): Promise<T>;
}

/** A worker on the test server with task queues of its own. */
export interface TestWorker extends TestTemporal {
  /** Stops polling and waits for what runs; disposing does it too. */
  stop(): Promise<void>;
}

const patienceMs = 600_000;

/** Connects to the test server; search attributes are registered when they are missing. */
export async function testTemporal(
  address = inject('temporalAddress'),
  queuePrefix = `test-${randomBytes(6).toString('hex')}`,
): Promise<TestTemporal> {
  const opened = openTemporal({ address, namespace: 'default', apiKey: null, tls: null });
  // A busy server may take longer for a call than the outbox waits before it makes it again.
  const within: TemporalConnection['within'] = (_milliseconds, calls) => opened.within(patienceMs, calls);
  const temporal: TemporalConnection = Object.assign(Object.create(opened), { within });
  await prepareNamespace(temporal);
  return {
    temporal,
    client: temporal.client,
    queuePrefix,
    perform: (command) => performCommand(temporal, queuePrefix, command),
    async result<T>(workflowId: string) {
      const execution = temporal.client.workflow.getHandle(workflowId);
      await eventually(() =>
        expecting(
          (error) => error instanceof WorkflowNotFoundError,
          false,
          execution.describe().then(() => true),
        ),
      );
      return execution.result() as Promise<T>;
    },
    [Symbol.asyncDispose]: () => temporal.close(),
  };
}

/** What a test's worker runs. */
export interface TestWorkerOptions {
  /** What the workflows under test call. */
  activities: object;
  /** The queues it serves: all that a workflow runs on, when absent. Fewer make a test lighter. */
  queues?: readonly QueueKind[];
  /** The queues of another worker, to stand beside it or to take its place. */
  queuePrefix?: string;
  /** Another server than the one that all tests share. */
  address?: string;
}

// How version 1.24 of the SDK ends a worker that had to give up a workflow task on a busy machine, after all its work is done
// (temporalio/sdk-typescript#2377).
const disposedTooLate = 'Workflow execution context should have been disposed first';

/** Serves the workflows of the service with the given activities. Use with `await using`. */
export async function testWorker({ activities, queues, queuePrefix, address }: TestWorkerOptions): Promise<TestWorker> {
  installTemporalRuntime(pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }), null);
  const [server, workflows] = await Promise.all([testTemporal(address, queuePrefix), workflowBundle()]);
  const connection = await NativeConnection.connect({ address: server.temporal.settings.address });
  const kinds = queues ?? [...new Set(Object.values(workflowQueues))];
  const workers = await Promise.all(
    kinds.map((kind) =>
      Worker.create({
        connection,
        namespace: 'default',
        taskQueue: taskQueue(server.queuePrefix, kind),
        workflowBundle: workflows,
        activities,
        interceptors: { activity: [traceActivities] },
        // Workflows run in this thread. One more for each queue would cost a second of processor time at every start.
        debugMode: true,
        maxCachedWorkflows: 50,
        maxConcurrentWorkflowTaskPolls: 2,
        maxConcurrentActivityTaskPolls: 2,
        shutdownGraceTime: 500,
        // What a step still does on a busy machine may take its time; then the end of the worker is an error.
        shutdownForceTime: '1 minute',
      }),
    ),
  );
  const runs = Promise.all(workers.map((worker) => worker.run()));
  // A worker that fails on its own is told at `stop`; until then the test waits for something else.
  runs.catch(() => undefined);
  let stopped: Promise<void> | null = null;
  const stop = () => {
    stopped ??= (async () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      try {
        await runs.catch((error: Error) => {
          if (!error.message.startsWith(disposedTooLate)) throw error;
        });
      } finally {
        await connection.close();
        await server.temporal.close();
      }
    })();
    return stopped;
  };
  return { ...server, stop, [Symbol.asyncDispose]: stop };
}
