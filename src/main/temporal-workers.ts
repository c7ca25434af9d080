import { hostname } from 'node:os';
import { GracefulShutdownPeriodExpiredError, NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { TemporalSettings } from '../../temporal/connection.ts';
import { describeFailure } from '../lib/grpc.ts';
import { pause } from '../lib/time.ts';
import type { ActivityInterceptor } from './activity-log.ts';
import type { WorkflowBundle } from './workflow-bundle.ts';

/** One task queue as this process serves it. */
export interface ServedQueue {
  taskQueue: string;
  activities: object;
  /** Executions kept in memory between their tasks, at about 0.4 MB each. */
  maxCachedWorkflows: number;
  maxActivities: number;
}

/** The workers of a process. */
export interface TemporalWorkers {
  /** Resolves when every queue is served for the first time. */
  readonly ready: Promise<void>;
  /** Takes nothing new, lets what runs finish for a moment, cancels the rest. */
  stop(): Promise<void>;
}

/** What the workers are built from. */
export interface TemporalWorkersDeps {
  settings: TemporalSettings;
  queues: readonly ServedQueue[];
  bundle: WorkflowBundle;
  log: Logger;
  interceptors: readonly ActivityInterceptor[];
}

// `npm start` gives a worker 5.5 seconds; what is cut off is retried by another worker and settled by its claim.
const finishMs = 3000;
const forceMs = 4500;
const longestPauseMs = 5000;

/** Serves the queues until told to stop: connects as soon as Temporal is there, and again whenever it was away too long. */
export function runTemporalWorkers(deps: TemporalWorkersDeps): TemporalWorkers {
  const { settings, log } = deps;
  const stopping = new AbortController();
  const ready = Promise.withResolvers<void>();
  let workers: Worker[] = [];
  const running = serve();
  return {
    ready: ready.promise,
    async stop() {
      stopping.abort();
      for (const worker of workers) shutDown(worker);
      await running;
    },
  };

  async function serve(): Promise<void> {
    let pauseMs = 250;
    let said = '';
    while (!stopping.signal.aborted) {
      try {
        await connectAndRun(() => {
          log.info({ queues: deps.queues.map((queue) => queue.taskQueue) }, `serving ${settings.address}`);
          ready.resolve();
          pauseMs = 250;
          said = '';
        });
      } catch (error) {
        if (stopping.signal.aborted) {
          if (!(error instanceof GracefulShutdownPeriodExpiredError))
            log.warn({ err: error }, 'a worker stopped badly');
          else log.warn('activities were cut off at the end; another worker repeats them');
        } else {
          const reason = describeFailure(error, settings);
          if (reason !== said) log.warn(`waiting for Temporal: ${reason}`);
          said = reason;
        }
      }
      await pause(pauseMs, stopping.signal);
      pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    }
  }

  async function connectAndRun(onUp: () => void): Promise<void> {
    const connection = await NativeConnection.connect({
      address: settings.address,
      ...(settings.tls === null ? {} : { tls: settings.tls }),
      ...(settings.apiKey === null ? {} : { apiKey: settings.apiKey }),
    });
    try {
      const created = await Promise.allSettled(
        deps.queues.map((queue) => Worker.create(optionsOf(queue, connection, deps))),
      );
      workers = created.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const failed = created.find((result) => result.status === 'rejected');
      const runs = workers.map((worker) => worker.run());
      if (failed !== undefined || stopping.signal.aborted) for (const worker of workers) shutDown(worker);
      else onUp();
      // One worker that gives up takes the others along: they are made anew together.
      for (const run of runs) run.catch(() => workers.forEach(shutDown));
      const ended = await Promise.allSettled(runs);
      if (failed !== undefined) throw failed.reason;
      const broken = ended.find((result) => result.status === 'rejected');
      if (broken !== undefined) throw broken.reason;
    } finally {
      workers = [];
      await connection.close().catch(() => undefined);
    }
  }
}

function optionsOf(queue: ServedQueue, connection: NativeConnection, deps: TemporalWorkersDeps): WorkerOptions {
  return {
    connection,
    namespace: deps.settings.namespace,
    taskQueue: queue.taskQueue,
    identity: `${process.pid}@${hostname()}`,
    workflowBundle: deps.bundle,
    activities: queue.activities,
    maxCachedWorkflows: queue.maxCachedWorkflows,
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
