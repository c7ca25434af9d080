import { hostname } from 'node:os';
import {
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  type Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import { checkTemporal, dataConverterOf, type TemporalConnection } from '../../temporal/connection.ts';
import { describeFailure } from '../core/lib/grpc.ts';
import { pause } from '../core/lib/time.ts';
import type { ActivityInterceptor } from './activity-log.ts';
import type { ServedQueue } from './served-queues.ts';
import type { WorkflowBundle } from './workflow-bundle.ts';
import { shareWorkflowThread } from './workflow-thread.ts';

/** The workers of a process. */
export interface TemporalWorkers {
  /** Resolves when every queue is served for the first time. */
  readonly ready: Promise<void>;
  /**
   * Makes the workers anew, as with another store: what they remember of executions would not fit the histories of an
   * older one. Activities that do not finish in a moment are cancelled and repeated.
   */
  renew(): void;
  /** Takes nothing new, lets what runs finish for a moment, cancels the rest. */
  stop(): Promise<void>;
}

/** What the workers are built from. */
export interface TemporalWorkersDeps {
  temporal: TemporalConnection;
  queues: readonly ServedQueue[];
  bundle: WorkflowBundle;
  log: Logger;
  interceptors: readonly ActivityInterceptor[];
  /** Called when Temporal, or one with another store, is back after it was away. */
  onBack?: () => void;
}

// `npm start` gives a worker 5.5 seconds; what is cut off is retried by another worker and settled by its claim.
const finishMs = 3000;
const forceMs = 4500;
const retryMs = 1000;
const watchMs = 5000;

/** Serves the queues until told to stop: connects as soon as Temporal is there, and again whenever it was away too long. */
export function runTemporalWorkers(deps: TemporalWorkersDeps): TemporalWorkers {
  const { temporal, log } = deps;
  const { settings } = temporal;
  const stopping = new AbortController();
  const ready = Promise.withResolvers<void>();
  let workers: Worker[] = [];
  const running = serve();
  return {
    ready: ready.promise,
    renew() {
      for (const worker of workers) shutDown(worker);
    },
    async stop() {
      stopping.abort();
      for (const worker of workers) shutDown(worker);
      await running;
    },
  };

  async function serve(): Promise<void> {
    let said: string | null = null;
    const say = (reason: string) => {
      if (reason !== said) log.warn(`waiting for Temporal: ${reason}`);
      said = reason;
    };
    while (!stopping.signal.aborted) {
      // The client tells better than the SDK's core what is wrong: no server, no namespace, no access.
      const reason = await checkTemporal(temporal);
      try {
        if (reason !== null) say(reason);
        else
          await connectAndRun(() => {
            log.info({ queues: deps.queues.map((queue) => queue.taskQueue) }, `serving ${settings.address}`);
            said = null;
            ready.resolve();
          });
      } catch (error) {
        if (error instanceof GracefulShutdownPeriodExpiredError)
          log.warn('activities were cut off at the end; another worker repeats them');
        else if (stopping.signal.aborted) log.warn({ err: error }, 'a worker stopped badly');
        else say(describeFailure(error, settings));
      }
      await pause(retryMs, stopping.signal);
    }
  }

  /** The SDK polls again and again without a word of use to a person; this says when Temporal went and came back. */
  async function watch(until: AbortSignal): Promise<void> {
    let away = false;
    while (!until.aborted) {
      await pause(watchMs, until);
      if (until.aborted) return;
      const reason = await checkTemporal(temporal);
      if (reason !== null && !away) log.warn(`Temporal is away: ${reason}; work goes on when it is back`);
      if (reason === null && away) {
        log.info('Temporal is back');
        deps.onBack?.();
      }
      away = reason !== null;
    }
  }

  async function connectAndRun(onUp: () => void): Promise<void> {
    const connection = await NativeConnection.connect({
      address: settings.address,
      ...(settings.tls === null ? {} : { tls: settings.tls }),
      ...(settings.apiKey === null ? {} : { apiKey: settings.apiKey }),
    });
    const over = new AbortController();
    const thread = shareWorkflowThread(deps.queues.flatMap(({ activities }) => Object.keys(activities)));
    try {
      const created = await Promise.allSettled(
        deps.queues.map((queue) => thread.createWorker(optionsOf(queue, connection, deps))),
      );
      workers = created.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const failed = created.find((result) => result.status === 'rejected');
      const runs = workers.map((worker) => worker.run());
      if (failed !== undefined || stopping.signal.aborted) for (const worker of workers) shutDown(worker);
      else {
        onUp();
        void watch(over.signal);
      }
      // One worker that gives up takes the others along: they are made anew together.
      for (const run of runs) run.catch(() => workers.forEach(shutDown));
      const ended = await Promise.allSettled(runs);
      if (failed !== undefined) throw failed.reason;
      const broken = ended.find((result) => result.status === 'rejected');
      if (broken !== undefined) throw broken.reason;
    } finally {
      over.abort();
      workers = [];
      await thread.close().catch(() => undefined);
      await connection.close().catch(() => undefined);
    }
  }
}

function optionsOf(queue: ServedQueue, connection: NativeConnection, deps: TemporalWorkersDeps): WorkerOptions {
  return {
    connection,
    namespace: deps.temporal.settings.namespace,
    taskQueue: queue.taskQueue,
    dataConverter: dataConverterOf(deps.temporal.settings),
    identity: `${process.pid}@${hostname()}`,
    activities: queue.activities,
    ...(queue.maxCachedWorkflows > 0
      ? { workflowBundle: deps.bundle, maxCachedWorkflows: queue.maxCachedWorkflows }
      : {}),
    maxConcurrentActivityTaskExecutions: queue.maxActivities,
    workflowTaskPollerBehavior: { type: 'autoscaling', initial: 2, maximum: 20 },
    activityTaskPollerBehavior: { type: 'autoscaling', initial: 2, maximum: 20 },
    reuseV8Context: true,
    // How long a killed worker's executions wait before another one takes them.
    stickyQueueScheduleToStartTimeout: '3 seconds',
    shutdownGraceTime: finishMs,
    shutdownForceTime: forceMs,
    interceptors: { activity: [...deps.interceptors] },
  };
}

function shutDown(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
