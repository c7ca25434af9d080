import type { Logger } from 'pino';
import { createOAuthProviders, type OAuthEndpoints, type OAuthName } from '../../accounts/oauth.ts';
import { cachedResolver, dnsResolver, type Resolver } from '../../accounts/verification/addresses/verify.ts';
import { createErasedAddresses } from '../../contacts/erased.ts';
import { createSuppressionRuleCache } from '../../contacts/suppressions/rules.ts';
import type { Mailer } from '../../domains/providers/mailer.ts';
import { createSnsClient, type GetText } from '../../domains/providers/ses/sns.ts';
import { createHttpApp, trustedOrigins } from '../../http/app.ts';
import type { App, RequestCredentials } from '../../http/context.ts';
import { tooSlowAnswer } from '../../http/errors.ts';
import { routeCaller } from '../../http/handler.ts';
import { createHttpMetrics } from '../../http/metrics.ts';
import { RateLimiter } from '../../http/rate-limit.ts';
import type { Route } from '../../http/route.ts';
import { type RunningServer, type ServerLimits, serve, usualLimits } from '../../http/server/server.ts';
import type { Config } from '../../lib/config/config.ts';
import { type Clock, systemClock } from '../../lib/time.ts';
import { authenticate } from '../../projects/access/authenticate.ts';
import { createProjectDirectory } from '../../projects/directory.ts';
import { listenForChanges } from '../../store/changes.ts';
import { heavyReads } from '../../store/heavy-reads.ts';
import { openSidePool, openStore } from '../../store/orm.ts';
import { Outbox } from '../../store/outbox/dispatcher.ts';
import { createDeliveryWaker } from '../../store/outbox/wake.ts';
import { createTemplateCache } from '../../templates/queries.ts';
import {
  entities,
  heavyDatabase,
  heavyReadLimits,
  measurePool,
  poolerWarnings,
  requestDatabase,
  sessionUrl,
} from '../setup/database-settings.ts';
import { type MetricsServer, openHealth, serveMetrics } from '../setup/metrics-server.ts';
import { outsideOf, revivers, withOwnQueues } from '../setup/outside.ts';
import { keepTemporalPrepared, openLastingTemporal } from '../temporal/temporal-server.ts';
import { createImageStore } from './config-route.ts';
import { routes } from './routes.ts';

/** An API process. */
export interface RunningApi extends AsyncDisposable {
  app: App;
  url: string;
  port: number;
  /**
   * Takes no new connections, lets requests under way finish for up to SHUTDOWN_GRACE_SECONDS, and lets go of everything.
   * `lingerMs`: how long connections without a request stay open, for what is on its way already.
   */
  close(lingerMs?: number): Promise<void>;
}

/** Stand-ins of tests for the world outside. */
export interface ApiOverrides {
  /** Where providers of sign-in are reached. */
  oauth?: Partial<Record<OAuthName, OAuthEndpoints>>;
  mailer?: Mailer;
  resolver?: Resolver;
  /** Fetches from Amazon's hosts. */
  getFromAmazon?: GetText;
  clock?: Clock;
  /** How long the server waits for its clients. */
  limits?: ServerLimits;
}

/** Starts the API: it serves as soon as Postgres can be reached, whether or not Temporal can. */
export async function startApi(settings: Config, log: Logger, overrides: ApiOverrides = {}): Promise<RunningApi> {
  const listenUrl = await sessionUrl(settings);
  const store = await openStore(requestDatabase(settings), entities);
  const config = await withOwnQueues(settings, store.db);
  const reads = openSidePool(heavyDatabase(config), store);
  for (const warning of await poolerWarnings(store, requestDatabase(config))) log.warn(warning);
  const changes = listenForChanges(listenUrl, log);
  const temporal = openLastingTemporal(config, log);
  const queuePrefix = config.TEMPORAL_TASK_QUEUE;
  const preparation = keepTemporalPrepared({ temporal, queuePrefix, log, mayMake: config.TEMPORAL_SETUP });
  const outbox = new Outbox({ db: store.db, temporal, queuePrefix, log, revivers, onUnprepared: preparation.soon });
  const limiter = new RateLimiter(store.db, config.RATE_LIMIT_PER_MINUTE);
  const origins = trustedOrigins(config);
  const directory = createProjectDirectory(store.db, changes);
  const clock = overrides.clock ?? systemClock;
  const health = openHealth({ config, store, temporal, clock });
  const access = { config, clock, db: store.db, directory, origins };
  const parts = {
    routes,
    authenticate: (route: Route, credentials: RequestCredentials) => authenticate(access, route, credentials),
    limiter,
  };
  const app: App = {
    ...(await outsideOf(config, log, store.db, overrides.mailer)),
    clock,
    oauth: await createOAuthProviders(config, overrides.oauth),
    sns: createSnsClient(overrides.getFromAmazon),
    resolver: overrides.resolver ?? cachedResolver(dnsResolver({ servers: config.DNS_SERVERS })),
    images: await createImageStore(config),
    config,
    db: store.db,
    heavyReads: heavyReads(reads.db, heavyReadLimits(config)),
    log,
    directory,
    templates: createTemplateCache(store.db, changes),
    suppressionRules: createSuppressionRuleCache(store.db, changes),
    erasedAddresses: createErasedAddresses(store.db, changes, config.encryptionKeys),
    outbox,
    waker: createDeliveryWaker({ db: store.db, temporal, queuePrefix, log }),
    callRoute: routeCaller(parts),
    checks: health.checks,
    warnings: health.warnings,
  };
  void app.images.prepare().then((problem) => problem !== null && log.warn(problem));
  const metrics = createHttpMetrics(health.figures);
  measurePool(metrics.registry, store.db.pool);
  const koa = createHttpApp(app, { ...parts, origins, metrics });
  let server: RunningServer;
  let metricsServer: MetricsServer | null = null;
  try {
    if (config.API_METRICS_PORT !== null)
      metricsServer = await serveMetrics(config.API_METRICS_PORT, config.METRICS_HOST ?? config.HOST, {
        contentType: metrics.registry.contentType,
        text: metrics.text,
      });
    server = await serve(koa.callback(), {
      port: config.PORT,
      host: config.HOST,
      tooSlow: tooSlowAnswer,
      limits: overrides.limits ?? usualLimits,
    });
  } catch (error) {
    preparation.close();
    await metricsServer?.close();
    await Promise.allSettled([changes.close(), temporal.close(), health.close(), reads.close(), store.close()]);
    throw error;
  }
  const { port } = server;
  const close = async (lingerMs = 0) => {
    preparation.close();
    const cut = await server.stop({ graceMs: config.SHUTDOWN_GRACE_SECONDS * 1_000, lingerMs });
    if (cut > 0) log.warn({ requests: cut }, 'requests took longer than SHUTDOWN_GRACE_SECONDS and were cut');
    await Promise.allSettled([app.waker.drain(), outbox.close(), limiter.close()]);
    await metricsServer?.close();
    await Promise.allSettled([changes.close(), temporal.close(), health.close(), reads.close(), store.close()]);
  };
  return { app, url: `http://127.0.0.1:${port}`, port, close, [Symbol.asyncDispose]: () => close() };
}
