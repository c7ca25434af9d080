import { ConfigError, readConfigOrExit } from '../core/config/config.ts';
import { unsafeSettings } from '../core/config/safety.ts';
import { DatabaseAddressError } from '../core/database/connection.ts';
import { releaseMemoryWhenIdle } from './idle-memory.ts';
import { createLogger } from './logger.ts';
import { describeMail } from './mail.ts';
import { finishAndExit, untilToldToStop } from './process.ts';
import { startSmtp } from './smtp-runtime.ts';

/** How long database, Temporal and what was written after the last answers may take. */
const lettingGoMs = 4_000;

releaseMemoryWhenIdle();
const config = readConfigOrExit(['DATABASE_URL', 'TEMPORAL_ADDRESS']);
const log = createLogger(config, 'smtp');
for (const warning of unsafeSettings(config)) log.warn(warning);
const smtp = await startSmtp(config, log).catch((error: NodeJS.ErrnoException & { port?: number }) => {
  const name = error.port === config.SMTP_IN_TLS_PORT ? 'SMTP_IN_TLS_PORT' : 'SMTP_IN_PORT';
  if (error.code === 'EADDRINUSE') log.fatal(`port ${error.port} is in use: set ${name} to another one`);
  else if (error.code === 'EACCES')
    log.fatal(`port ${error.port} needs more rights than this process has: set ${name} to another one`);
  else if (error instanceof DatabaseAddressError) log.fatal(error.message);
  else if (error instanceof ConfigError) for (const problem of error.problems) log.fatal(problem);
  else log.fatal({ err: error }, 'SMTP submission cannot start');
  process.exit(1);
});
if (config.SMTP_IN_TLS_CERT === null)
  log.warn('SMTP_IN_TLS_CERT is not set: only clients on this machine can sign in by SMTP');
log.info({ ports: smtp.ports, host: config.SMTP_IN_HOST, mail: describeMail(config) }, 'SMTP submission listens');
process.send?.('ready');
await untilToldToStop();
log.info('SMTP submission finishes what is under way');
await finishAndExit(
  async () => {
    await smtp.close();
    log.info('SMTP submission has stopped');
  },
  config.SHUTDOWN_GRACE_SECONDS * 1_000 + lettingGoMs,
);
