import { hostname } from 'node:os';
import {
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  Runtime,
  type Logger as SdkLogger,
  type Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import {
  checkTemporal,
  dataConverterOf,
  type TemporalConnection,
  type TemporalSettings,
} from '../../../temporal/connection.ts';
import type { VersionRouting } from '../../../temporal/versions.ts';
import { describeFailure } from '../../lib/network.ts';
import { pause } from '../../lib/time.ts';
import type { ActivityInterceptor, ServedQueue } from './worker-metrics.ts';
import type { WorkflowBundle } from './workflow-bundle.ts';
import { loadPrivateModules, ownThreads, shareWorkflowThread, type WorkflowThread } from './workflow-thread.ts';

/** The workers of a process. */
export interface TemporalWorkers {
  /** Resolves when every queue is served for the first time. */
  readonly ready: Promise<void>;
  /**
   * Whether every queue is served, Temporal answers, and it leads tasks to this version or to another one with workers, as far as is
   * known; a check is up to five seconds old.
   */
  isServing(): boolean;
  /**
   * Makes the workers anew, as with another store: what they remember of executions would not fit the histories of an
   * older one. Activities that do not finish in a moment are cancelled and repeated.
   */
  renew(): void;
  /** Takes nothing new, lets what runs finish for a moment, cancels the rest. */
  stop(): Promise<void>;
}

export interface TemporalWorkersDeps {
  temporal: TemporalConnection;
  queues: readonly ServedQueue[];
  bundle: WorkflowBundle;
  /** Whether the workflows of all queues run in one thread (TEMPORAL_SHARED_WORKFLOW_THREAD). */
  sharesThread: boolean;
  /** Says which version they register as, and whether it gets tasks; without it they have none. */
  routing?: VersionRouting;
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

/** Serves the queues until stopped: connects as soon as Temporal is there, and again whenever it was away too long. */
export function runTemporalWorkers(deps: TemporalWorkersDeps): TemporalWorkers {
  return new Serving(deps);
}

class Serving implements TemporalWorkers {
  readonly ready: Promise<void>;
  readonly #deps: TemporalWorkersDeps;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #resolveReady: () => void;
  #workers: Worker[] = [];
  #said: string | null = null;
  #isAway = false;

  constructor(deps: TemporalWorkersDeps) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#resolveReady = resolve;
    this.#deps = deps;
    this.#running = this.#serve();
  }

  isServing(): boolean {
    const { queues, routing } = this.#deps;
    const running = this.#workers.filter((worker) => worker.getState() === 'RUNNING');
    return !this.#isAway && running.length === queues.length && (routing?.isSettled() ?? true);
  }

  renew(): void {
    for (const worker of this.#workers) shutDown(worker);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.renew();
    await this.#running;
  }

  async #serve(): Promise<void> {
    const { temporal, log } = this.#deps;
    while (!this.#stopping.signal.aborted) {
      // The client tells better than the SDK's core what is wrong: no server, no namespace, no access.
      const reason = await checkTemporal(temporal);
      try {
        if (reason !== null) this.#say(reason);
        else await this.#connectAndRun();
      } catch (error) {
        if (error instanceof GracefulShutdownPeriodExpiredError)
          log.warn('activities were cut off at the end; another worker repeats them');
        else if (this.#stopping.signal.aborted) log.warn({ err: error }, 'a worker stopped badly');
        else this.#say(describeFailure(error, temporal.settings));
      }
      await pause(retryMs, this.#stopping.signal);
    }
  }

  #say(reason: string): void {
    if (reason !== this.#said) this.#deps.log.warn(`waiting for Temporal: ${reason}`);
    this.#said = reason;
  }

  async #connectAndRun(): Promise<void> {
    const { temporal } = this.#deps;
    const { settings } = temporal;
    const connection = await NativeConnection.connect({
      address: settings.address,
      ...(settings.tls === null ? {} : { tls: settings.tls }),
      ...(settings.apiKey === null ? {} : { apiKey: settings.apiKey }),
    });
    const over = new AbortController();
    const thread = await workflowThread(this.#deps);
    try {
      await this.#run(thread, connection, settings, over.signal);
    } finally {
      over.abort();
      this.#workers = [];
      await thread.close().catch(() => undefined);
      await connection.close().catch(() => undefined);
    }
  }

  /** Runs a worker for each queue until one of them ends; `over` ends the watch. @throws what a worker ended by */
  async #run(
    thread: WorkflowThread,
    connection: NativeConnection,
    settings: TemporalSettings,
    over: AbortSignal,
  ): Promise<void> {
    const created = await Promise.allSettled(
      this.#deps.queues.map((queue) => thread.createWorker(optionsOf(queue, connection, this.#deps))),
    );
    this.#workers = created.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = created.find((result) => result.status === 'rejected');
    const runs = this.#workers.map((worker) => worker.run());
    if (failed !== undefined || this.#stopping.signal.aborted) this.renew();
    else {
      this.#sayServing();
      void this.#watch(settings, over);
    }
    // One worker that gives up takes the others along: they are made anew together.
    for (const run of runs) run.catch(() => this.renew());
    const ended = await Promise.allSettled(runs);
    const broken = failed ?? ended.find((result) => result.status === 'rejected');
    if (broken !== undefined) throw broken.reason;
  }

  #sayServing(): void {
    const { queues, temporal, log } = this.#deps;
    log.info({ queues: queues.map((queue) => queue.taskQueue) }, `serving ${temporal.settings.address}`);
    this.#said = null;
    this.#resolveReady();
  }

  /**
   * The SDK polls again and again without a word of use to a person; this says when Temporal went and came back. Where credentials were
   * renewed, the workers are made anew: their connection keeps those it was made with.
   */
  async #watch(settings: TemporalSettings, until: AbortSignal): Promise<void> {
    const { temporal, log, onBack } = this.#deps;
    this.#isAway = false;
    while (!until.aborted) {
      await pause(watchMs, until);
      if (until.aborted) return;
      if (temporal.settings !== settings) return this.renew();
      const reason = await checkTemporal(temporal);
      if (reason !== null && !this.#isAway) log.warn(`Temporal is away: ${reason}; work goes on when it is back`);
      if (reason === null && this.#isAway) {
        log.info('Temporal is back');
        onBack?.();
      }
      this.#isAway = reason !== null;
    }
  }
}

/** Returns the thread that all queues share, or threads of their own where the setting or the version of the SDK forbids sharing. */
async function workflowThread({ sharesThread, queues, log }: TemporalWorkersDeps): Promise<WorkflowThread> {
  if (!sharesThread) return ownThreads;
  try {
    return shareWorkflowThread(
      await loadPrivateModules(),
      queues.flatMap(({ activities }) => Object.keys(activities)),
      log,
    );
  } catch (error) {
    log.warn({ err: error }, 'workflows cannot share a thread with this version of the SDK: each queue gets its own');
    return ownThreads;
  }
}

function optionsOf(queue: ServedQueue, connection: NativeConnection, deps: TemporalWorkersDeps): WorkerOptions {
  return {
    connection,
    namespace: deps.temporal.settings.namespace,
    taskQueue: queue.taskQueue,
    dataConverter: dataConverterOf(deps.temporal.settings),
    ...versionOf(deps),
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

function versionOf({ routing }: TemporalWorkersDeps): Partial<WorkerOptions> {
  const identity = `${process.pid}@${hostname()}`;
  const version = routing?.version ?? null;
  if (version === null) return { identity };
  return {
    // Temporal keeps one poller for each identity, so those of two versions in one process must differ.
    identity: `${identity} ${version.buildId}`,
    workerDeploymentOptions: {
      version,
      useWorkerVersioning: true,
      // Workflow types that end within minutes are pinned instead, where they are defined.
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}

function shutDown(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

/** Where the SDK's own figures can be read on this machine; null when they are not gathered. */
export type SdkMetricsUrl = string | null;

let installed: SdkMetricsUrl | undefined;

/**
 * Prepares the Temporal SDK once for this process: its log lines go into ours, and its figures to a port on loopback when
 * one is given. Must come before the first worker or connection; later calls change nothing.
 */
export function installTemporalRuntime(log: Logger, metricsPort: number | null): SdkMetricsUrl {
  if (installed !== undefined) return installed;
  const address = metricsPort === null ? null : `127.0.0.1:${metricsPort}`;
  Runtime.install({
    logger: sdkLogger(log),
    // The process stops its workers itself, in its own order.
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(address === null
        ? {}
        : {
            metrics: { prometheus: { bindAddress: address, countersTotalSuffix: true, useSecondsForDurations: true } },
          }),
    },
  });
  installed = address === null ? null : `http://${address}/metrics`;
  return installed;
}

// Every attempt of an activity has a line of ours already.
const logged = new Set(['Activity failed', 'Activity started', 'Activity completed']);

function sdkLogger(log: Logger): SdkLogger {
  const write = (level: 'trace' | 'debug' | 'info' | 'warn' | 'error') => (message: string, facts?: object) => {
    if (logged.has(message)) return;
    // The SDK's info lines (each change of a worker's state) are not news for an operator, and each of
    // its retries without a server is not either: the worker says once that Temporal is away.
    const shownAs = level === 'info' || /^gRPC call \w+ retried/.test(message) ? 'debug' : level;
    log[shownAs](withoutPayloads(facts), `temporal: ${message}`);
  };
  const [trace, debug, info, warn, error] = (['trace', 'debug', 'info', 'warn', 'error'] as const).map(write) as [
    SdkLogger['trace'],
    SdkLogger['debug'],
    SdkLogger['info'],
    SdkLogger['warn'],
    SdkLogger['error'],
  ];
  return {
    trace,
    debug,
    info,
    warn,
    error,
    log: (level, message, facts) => write(level.toLowerCase() as 'info')(message, facts),
  };
}

const shown = ['workflowId', 'workflowType', 'activityType', 'activityId', 'attempt', 'taskQueue', 'error'];

function withoutPayloads(facts: object | undefined): Record<string, unknown> {
  const entries = Object.entries(facts ?? {}).filter(([name]) => shown.includes(name));
  return Object.fromEntries(
    entries.map(([name, value]) =>
      name === 'error' ? ['err', value instanceof Error ? value : String(value)] : [name, value],
    ),
  );
}
