import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createErasedAddresses } from '../../contacts/erased.ts';
import { createSuppressionRuleCache } from '../../contacts/suppressions/rules.ts';
import type { Mailer } from '../../domains/providers/mailer.ts';
import { BodyBudget } from '../../http/bodies/budget.ts';
import { keyedBudgetSize } from '../../http/body.ts';
import { writeOnceWith } from '../../http/idempotency.ts';
import { RateLimiter } from '../../http/rate-limit.ts';
import { type Config, ConfigError } from '../../lib/config/config.ts';
import { measureProcess } from '../../lib/telemetry.ts';
import { createSmtpIn, type SmtpCounting, type SmtpIn, type SmtpInDeps } from '../../mail/smtp-in/server.ts';
import { createProjectDirectory } from '../../projects/directory.ts';
import { listenForChanges } from '../../store/changes.ts';
import { openStore } from '../../store/orm.ts';
import { createDeliveryWaker } from '../../store/outbox/wake.ts';
import { createTemplateCache } from '../../templates/queries.ts';
import { entities, measurePool, requestDatabase, sessionUrl } from '../setup/database-settings.ts';
import { createMailer } from '../setup/mail.ts';
import { type MetricsServer, serveMetrics } from '../setup/metrics-server.ts';
import { withOwnQueues } from '../setup/outside.ts';
import { openLastingTemporal } from '../temporal/temporal-server.ts';

/** The metrics of a process for SMTP submission. */
export interface SmtpMetrics extends SmtpCounting {
  readonly registry: Registry;
}

/** Makes the registry; `connections` says how many there are at the moment, `served` has the certificate of the moment. */
export function createSmtpMetrics(connections: () => number, served: ServedCertificate): SmtpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  measureProcess(registry);
  new Gauge({
    name: 'fernpost_smtp_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of SMTP submission expires; absent without one',
    registers: [registry],
    collect() {
      if (served.certificate === null) this.remove();
      else this.set(new X509Certificate(served.certificate.cert).validToDate.getTime() / 1000);
    },
  });
  new Gauge({
    name: 'fernpost_smtp_connections',
    help: 'Connections by SMTP at the moment',
    registers: [registry],
    collect() {
      this.set(connections());
    },
  });
  const accepted = new Counter({
    name: 'fernpost_smtp_messages_accepted_total',
    help: 'Messages that were taken by SMTP, repetitions included',
    registers: [registry],
  });
  const refused = new Counter({
    name: 'fernpost_smtp_refusals_total',
    help: 'Sign-ins, recipients and messages that were refused, by the code of the reply',
    labelNames: ['code'],
    registers: [registry],
  });
  return {
    registry,
    onAccepted: () => accepted.inc(),
    onRefused: (code) => refused.inc({ code }),
  };
}

/** A process for SMTP submission. */
export interface RunningSmtp extends AsyncDisposable {
  /** With STARTTLS, and with TLS from the first byte; null where it does not listen. */
  ports: { plain: number | null; tls: number | null };
  /** Connections at the moment. */
  readonly connections: number;
  /** The metrics that SMTP_IN_METRICS_PORT serves. */
  readonly metrics: Registry;
  /** Takes nothing new, lets messages that are being read finish for up to SHUTDOWN_GRACE_SECONDS, and lets go of everything. */
  close(): Promise<void>;
}

/** Stand-ins of tests for the world outside. */
export interface SmtpOverrides {
  /** Hears of accepted mail, after the commit and before the client does. */
  wake?: (projectId: string) => void;
}

interface Certificate {
  cert: Buffer;
  key: Buffer;
}

/** The certificate that clients get at the moment; null without TLS. */
interface ServedCertificate {
  certificate: Certificate | null;
}

const megabyte = 1024 * 1024;
const hour = 3_600_000;

/** Starts SMTP submission. @throws ConfigError when no port is set or the certificate cannot be read */
export async function startSmtp(settings: Config, log: Logger, overrides: SmtpOverrides = {}): Promise<RunningSmtp> {
  const { SMTP_IN_PORT: plainPort, SMTP_IN_TLS_PORT: tlsPort } = settings;
  if (plainPort === null && tlsPort === null)
    throw new ConfigError(['SMTP_IN_PORT is missing: without it there is nothing to do']);
  const certificate = readCertificate(settings);
  if (certificate === null && tlsPort !== null)
    throw new ConfigError(['SMTP_IN_TLS_CERT is missing: SMTP_IN_TLS_PORT is set and needs it']);
  const listenUrl = await sessionUrl(settings);
  const store = await openStore({ ...requestDatabase(settings), applicationName: 'fernpost-smtp' }, entities);
  const config = await withOwnQueues(settings, store.db);
  const changes = listenForChanges(listenUrl, log);
  const temporal = openLastingTemporal(config, log);
  const waker = createDeliveryWaker({ db: store.db, temporal, queuePrefix: config.TEMPORAL_TASK_QUEUE, log });
  const limiter = new RateLimiter(store.db, config.RATE_LIMIT_PER_MINUTE);
  const mailer = await createMailer(config, log, store.db);
  const servers: SmtpIn[] = [];
  const served = { certificate };
  const metrics = createSmtpMetrics(() => servers.reduce((sum, one) => sum + one.connections, 0), served);
  measurePool(metrics.registry, store.db.pool);
  const deps: SmtpInDeps = {
    config,
    counting: metrics,
    db: store.db,
    log,
    writeOnceWith,
    limiter,
    wake: overrides.wake ?? ((projectId) => waker.wake(projectId)),
    directory: createProjectDirectory(store.db, changes),
    templates: createTemplateCache(store.db, changes),
    suppressionRules: createSuppressionRuleCache(store.db, changes),
    erasedAddresses: createErasedAddresses(store.db, changes, config.encryptionKeys),
    budget: new BodyBudget(keyedBudgetSize()),
    billing: config,
    limits: limitsOf(config, mailer),
  };
  const server = (secure: boolean) =>
    createSmtpIn(deps, {
      name: new URL(config.API_URI).hostname,
      tls: certificate,
      secure,
      connections: config.SMTP_IN_CONNECTIONS,
      waiting: config.SMTP_IN_CONNECTIONS_PER_NETWORK,
      graceMs: config.SHUTDOWN_GRACE_SECONDS * 1_000,
    });
  const plain = plainPort === null ? null : server(false);
  const tls = tlsPort === null ? null : server(true);
  servers.push(...[plain, tls].filter((one) => one !== null));
  const renewal = renewCertificates(config, log, served, servers);
  const close = async () => {
    clearInterval(renewal);
    await Promise.all(servers.map((one) => one.stop()));
    await Promise.allSettled([waker.drain(), limiter.close()]);
    await Promise.allSettled([metricsServer?.close(), changes.close(), temporal.close(), store.close()]);
  };
  let metricsServer: MetricsServer | null = null;
  try {
    const { registry } = metrics;
    if (config.SMTP_IN_METRICS_PORT !== null)
      metricsServer = await serveMetrics(config.SMTP_IN_METRICS_PORT, config.METRICS_HOST ?? config.HOST, {
        contentType: registry.contentType,
        text: () => registry.metrics(),
      });
    const ports = {
      plain: (await plain?.listen(plainPort ?? 0, config.SMTP_IN_HOST)) ?? null,
      tls: (await tls?.listen(tlsPort ?? 0, config.SMTP_IN_HOST)) ?? null,
    };
    return {
      ports,
      get connections() {
        return servers.reduce((sum, one) => sum + one.connections, 0);
      },
      metrics: registry,
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function limitsOf(config: Config, mailer: Mailer): SmtpInDeps['limits'] {
  return {
    attachments: config.MAX_ATTACHMENTS_COUNT,
    attachmentBytes: config.MAX_ATTACHMENT_SIZE_MB * megabyte,
    messageBytes: mailer.maxMessageBytes,
    refusedExtensions: mailer.refusedExtensions ?? new Set<string>(),
  };
}

/** Reads the certificate again every hour, and gives it to the servers where it has changed. */
function renewCertificates(
  config: Config,
  log: Logger,
  served: ServedCertificate,
  servers: readonly SmtpIn[],
): NodeJS.Timeout {
  return setInterval(() => {
    const renewed = readCertificate(config, log);
    if (renewed === null || (served.certificate !== null && renewed.cert.equals(served.certificate.cert))) return;
    served.certificate = renewed;
    for (const one of servers) one.renew(renewed);
    log.info('the certificate of SMTP submission was renewed');
  }, hour).unref();
}

/** Null where none is set, and where one that was read before cannot be read any more. @throws ConfigError without a log */
function readCertificate(config: Config, log?: Logger): Certificate | null {
  const { SMTP_IN_TLS_CERT: cert, SMTP_IN_TLS_KEY: key } = config;
  if (cert === null || key === null) return null;
  try {
    return { cert: readFileSync(cert), key: readFileSync(key) };
  } catch (error) {
    const problem = `SMTP_IN_TLS_CERT and SMTP_IN_TLS_KEY cannot be read: ${(error as Error).message}`;
    if (log === undefined) throw new ConfigError([problem]);
    log.warn(problem);
    return null;
  }
}
