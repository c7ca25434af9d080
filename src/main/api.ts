import { readConfigOrExit } from '../core/config/config.ts';
import { unsafeSettings } from '../core/config/safety.ts';
import { startApi } from './api-runtime.ts';
import { releaseMemoryWhenIdle } from './idle-memory.ts';
import { createLogger } from './logger.ts';
import { describeMail, mailWarnings } from './mail.ts';
import { finishAndExit, untilToldToStop } from './process.ts';

/** A request that was sent before its client heard of the end has arrived by then. */
const idleConnectionsMs = 1_000;
/** How long database, Temporal and what was written after the last answers may take. */
const lettingGoMs = 4_000;

releaseMemoryWhenIdle();
const config = readConfigOrExit(['DATABASE_URL', 'TEMPORAL_ADDRESS']);
const log = createLogger(config, 'api');
for (const warning of [...unsafeSettings(config), ...mailWarnings(config)]) log.warn(warning);
const api = await startApi(config, log).catch((error: NodeJS.ErrnoException & { port?: number }) => {
  const clash = error.code === 'EADDRINUSE';
  const name = error.port === config.API_METRICS_PORT ? 'API_METRICS_PORT' : 'PORT';
  log.fatal(
    clash
      ? `port ${error.port} is in use; the API wanted it: set ${name} to another one`
      : `the API cannot start: ${error.message}`,
  );
  process.exit(1);
});
log.info({ port: api.port, host: config.HOST, mail: describeMail(config) }, 'the API listens');
await untilToldToStop();
log.info('the API finishes what is under way');
await finishAndExit(
  async () => {
    await api.close(idleConnectionsMs);
    log.info('the API has stopped');
  },
  config.SHUTDOWN_GRACE_SECONDS * 1_000 + lettingGoMs,
);
