import { freePorts } from '@fernpost/local-stack';
import type { Logger } from 'pino';
import { createActivities } from '../../../activities/index.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { reconcileNow } from '../../../temporal/setup.ts';
import { VersionRouting } from '../../../temporal/versions.ts';
import { createDateSweep } from '../../automations/enrollment/dates.ts';
import { createEnroller, enrollmentChannel } from '../../automations/runtime/enrol.ts';
import { countGoals } from '../../automations/runtime/goals.ts';
import { wakesUnderWay } from '../../automations/runtime/recovery.ts';
import { followQuietHours } from '../../campaigns/delivery/held.ts';
import { foldAllContactChanges } from '../../contacts/catalogue-queries.ts';
import { countNewEvents } from '../../contacts/events/counting-queries.ts';
import type { Mailer } from '../../domains/providers/mailer.ts';
import { holdRestored } from '../../feedback/reports/restored.ts';
import { foldAndJudge } from '../../feedback/reputation/service.ts';
import { createWebhookWatch } from '../../insight/webhooks/feed.ts';
import type { Config } from '../../lib/config/config.ts';
import { type Clock, pause, systemClock } from '../../lib/time.ts';
import { createSegmentWatch, touchedProjects } from '../../segments/changes.ts';
import { heavyReads } from '../../store/heavy-reads.ts';
import { openSidePool, openStore } from '../../store/orm.ts';
import { Outbox } from '../../store/outbox/dispatcher.ts';
import { startRelay } from '../../store/outbox/recovery.ts';
import { storeChangedAt } from '../../store/outbox/store-state.ts';
import { createDeliveryWaker, createMailSweep, type DeliveryWaker } from '../../store/outbox/wake.ts';
import { startWokenLoop } from '../../store/postgres/listener.ts';
import type { Database } from '../../store/sql.ts';
import {
  entities,
  heavyWorkerDatabase,
  heavyWorkerLimits,
  measurePool,
  poolerWarnings,
  sessionUrl,
  workerDatabase,
} from '../setup/database-settings.ts';
import { type MetricsServer, sdkMetrics, serveMetrics } from '../setup/metrics-server.ts';
import { outsideOf, revivers, withOwnQueues } from '../setup/outside.ts';
import { keepTemporalPrepared, openLastingTemporal } from '../temporal/temporal-server.ts';
import { installTemporalRuntime, runTemporalWorkers, type TemporalWorkers } from './temporal-workers.ts';
import {
  createWorkerMetrics,
  logActivities,
  servedQueues,
  traceActivities,
  type WorkerMetrics,
} from './worker-metrics.ts';
import { workflowBundle } from './workflow-bundle.ts';

/** A worker process. */
export interface RunningWorker extends AsyncDisposable {
  /** Resolves when every task queue is served for the first time; waits for Temporal as long as it takes. */
  readonly ready: Promise<void>;
  /** Takes nothing new, lets what runs finish for a few seconds, and lets go of everything. */
  close(): Promise<void>;
}

/** Stand-ins of tests for the world outside. */
export interface WorkerOverrides {
  mailer?: Mailer;
  clock?: Clock;
}

const sweepEveryMs = 3000;
const bookkeepingEveryMs = 5000;
const webhooksEveryMs = 1000;
const watchEveryMs = 5000;

/** Starts the worker: queues of Temporal, the relay of the outbox, and the sweep for lost wakes. */
export async function startWorker(
  settings: Config,
  log: Logger,
  overrides: WorkerOverrides = {},
): Promise<RunningWorker> {
  const listenUrl = await sessionUrl(settings);
  const temporal = openLastingTemporal(settings, log);
  let serving: TemporalWorkers | null = null;
  const metrics = await startMetrics(settings, log, () => serving?.isServing() ?? false);
  const bundle = await workflowBundle();
  const store = await openStore(workerDatabase(settings), entities);
  const config = await withOwnQueues(settings, store.db);
  for (const warning of await poolerWarnings(store, workerDatabase(settings))) log.warn(warning);
  const reads = openSidePool(heavyWorkerDatabase(config), store);
  if (metrics !== null) measurePool(metrics.registry, store.db.pool);
  const queuePrefix = config.TEMPORAL_TASK_QUEUE;
  const clock = overrides.clock ?? systemClock;
  const stopping = new AbortController();
  const waker = createDeliveryWaker({ db: store.db, temporal, queuePrefix, log });
  const preparation = keepTemporalPrepared({ temporal, queuePrefix, log, mayMake: config.TEMPORAL_SETUP });
  const outbox = new Outbox({
    db: store.db,
    temporal,
    queuePrefix,
    log,
    revivers,
    onUnprepared: preparation.soon,
    ...(metrics === null ? {} : { onCall: metrics.onCall }),
  });
  const activities = createActivities({
    ...(await heldAfterRestore(config, log, store.db, overrides.mailer)),
    config,
    db: store.db,
    heavyReads: heavyReads(reads.db, heavyWorkerLimits),
    outbox,
    waker,
    temporal,
    log,
    clock,
    stopping: stopping.signal,
  });
  const queues = servedQueues(queuePrefix, activities);
  const routing = new VersionRouting({ temporal, queuePrefix, queues, log, buildId: config.TEMPORAL_BUILD_ID });
  const workers = runTemporalWorkers({
    ...{ temporal, queues, bundle, routing, sharesThread: config.TEMPORAL_SHARED_WORKFLOW_THREAD, log },
    onBack: () => void preparation.ensure().then(reconcileSoon),
    interceptors: [traceActivities, logActivities(log, metrics?.registry ?? null)],
  });
  serving = workers;
  const loops = startLoops({
    ...{ config, log, db: store.db, temporal, routing, listenUrl, outbox, waker, clock, metrics },
    stop: stopping.signal,
    onOtherStore: () => workers.renew(),
  });
  // A worker that comes back after a crash should not wait for the next full minute.
  void workers.ready.then(preparation.ensure).then(reconcileSoon);

  function reconcileSoon(): Promise<void> {
    return reconcileNow(temporal, queuePrefix).catch((error: Error) =>
      log.warn(`the reconciler was not started ahead of its time: ${error.message}`),
    );
  }

  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= (async () => {
      stopping.abort();
      preparation.close();
      const enqueued = loops.closeIntake();
      await workers.stop();
      // Only now: activities that finish while the workers drain still start what they enqueued.
      await Promise.all([outbox.close(), waker.drain(), enqueued, loops.ended]);
      await metrics?.server.close();
      await Promise.allSettled([temporal.close(), reads.close(), store.close()]);
    })();
    return closed;
  };
  return { ready: workers.ready, close, [Symbol.asyncDispose]: close };
}

// The hold begins before there is anybody who could hand mail over.
async function heldAfterRestore(config: Config, log: Logger, db: Database, mailer?: Mailer) {
  const outside = await outsideOf(config, log, db, mailer);
  const { RESTORED_TO: restoredTo } = config;
  if (restoredTo !== null && (await holdRestored(db, restoredTo, outside.mailer)))
    log.warn({ restoredTo }, 'the database was set back: mail is held until the provider has been asked');
  return outside;
}

interface LoopDeps {
  config: Config;
  log: Logger;
  db: Database;
  temporal: TemporalConnection;
  routing: VersionRouting;
  listenUrl: string;
  outbox: Outbox;
  waker: DeliveryWaker;
  clock: Clock;
  metrics: WorkerMetrics | null;
  stop: AbortSignal;
  /** Temporal has another store than before, or an older one. */
  onOtherStore(): void;
}

/** Starts the loops of a worker beside tasks of Temporal. `ended` resolves after `stop`. */
function startLoops(deps: LoopDeps): { closeIntake(): Promise<unknown>; ended: Promise<unknown> } {
  const { config, log, db, temporal, routing, listenUrl, outbox, waker, clock, metrics, stop } = deps;
  const queuePrefix = config.TEMPORAL_TASK_QUEUE;
  const relay = startRelay({ outbox, listenUrl, log, wakes: wakesUnderWay(db) });
  const enrolling = startWokenLoop({
    channel: enrollmentChannel,
    listenUrl,
    work: createEnroller({
      db,
      startsPerHour: config.WORKFLOW_STARTS_PER_CONTACT_PER_HOUR,
      outbox,
      ...(metrics === null ? {} : { onOutcome: metrics.onOutcome }),
    }),
    what: 'enrolling contacts in automations',
    log,
  });
  const every = (pauseMs: number | (() => number), what: string, work: () => Promise<unknown>) =>
    everyFewSeconds(work, pauseMs, what, log, stop);
  // A version that begins is waited for by a deploy; without versions there is hardly anything to see.
  const routingPauseMs = () => (config.TEMPORAL_BUILD_ID === null ? 60_000 : routing.isSettled() ? watchEveryMs : 1000);
  const watch = createSegmentWatch({ touchedProjects: () => touchedProjects(db), temporal, queuePrefix, log });
  const ended = Promise.all([
    every(sweepEveryMs, 'the sweep for waiting mail', createMailSweep({ db, waker, clock })),
    every(watchEveryMs, 'the watch over segments', watch),
    every(watchEveryMs, 'enrolling contacts by their dates', createDateSweep({ db, clock, stop })),
    every(watchEveryMs, 'moving email after a change of quiet hours', () => followQuietHours({ db, outbox, stop })),
    every(webhooksEveryMs, 'the watch over webhooks', createWebhookWatch({ db, temporal, queuePrefix, log })),
    every(watchEveryMs, 'the check for another store', storeComparison(deps)),
    every(routingPauseMs, 'the routing of worker versions', () => routing.check()),
    every(bookkeepingEveryMs, 'counting goals of automations', () => countGoals(db, stop)),
    every(bookkeepingEveryMs, 'the bookkeeping of audiences', async () => {
      await foldAllContactChanges(db, stop);
      await countNewEvents(db);
      await foldAndJudge({ db, clock, outbox, settings: config, log }, stop);
    }),
  ]);
  return { closeIntake: () => Promise.all([relay.close(), enrolling.close()]), ended };
}

function storeComparison({ config, db, log, onOtherStore }: LoopDeps): () => Promise<void> {
  let known: string | null | undefined;
  return async () => {
    const changedAt = await storeChangedAt(db, config.TEMPORAL_TASK_QUEUE);
    if (known !== undefined && changedAt !== known) {
      log.warn('Temporal has another store, or an older one: this worker forgets what it remembers of executions');
      onOtherStore();
    }
    known = changedAt;
  };
}

async function startMetrics(
  { WORKER_METRICS_PORT: port, METRICS_HOST, HOST }: Config,
  log: Logger,
  isReady: () => boolean,
): Promise<(WorkerMetrics & { server: MetricsServer }) | null> {
  const [sdkPort = null] = port === null ? [] : await freePorts(1);
  const sdk = installTemporalRuntime(log, sdkPort);
  if (port === null) return null;
  const metrics = createWorkerMetrics();
  const { registry } = metrics;
  const text = async () => (await Promise.all([registry.metrics(), sdkMetrics(sdk)])).join('\n');
  const server = await serveMetrics(port, METRICS_HOST ?? HOST, { contentType: registry.contentType, text, isReady });
  return { ...metrics, server };
}

async function everyFewSeconds(
  work: () => Promise<unknown>,
  pauseMs: number | (() => number),
  what: string,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  let failing = false;
  while (!stop.aborted) {
    try {
      await work();
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, `${what} failed; it goes on`);
      failing = true;
    }
    await pause(typeof pauseMs === 'number' ? pauseMs : pauseMs(), stop);
  }
}
