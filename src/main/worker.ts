import { ConfigError, readConfigOrExit } from '../core/config/config.ts';
import { unsafeSettings } from '../core/config/safety.ts';
import { DatabaseAddressError } from '../core/database/connection.ts';
import { releaseMemoryWhenIdle } from './idle-memory.ts';
import { createLogger } from './logger.ts';
import { untilToldToStop } from './process.ts';
import { startWorker } from './worker-runtime.ts';

releaseMemoryWhenIdle();
const config = readConfigOrExit(['DATABASE_URL', 'TEMPORAL_ADDRESS']);
const log = createLogger(config, 'worker');
for (const warning of unsafeSettings(config)) log.warn(warning);
const told = untilToldToStop();
let hasStarted = false;
// Making the bundle of the workflows takes a moment in which nothing has begun that would need an end.
void told.then(() => hasStarted || process.exit(0));
const worker = await startWorker(config, log).catch((error: NodeJS.ErrnoException) => {
  if (error.code === 'EADDRINUSE')
    log.fatal(`port ${config.WORKER_METRICS_PORT} is in use: set WORKER_METRICS_PORT to another one`);
  else if (error instanceof DatabaseAddressError) log.fatal(error.message);
  else if (error instanceof ConfigError) for (const problem of error.problems) log.fatal(problem);
  else log.fatal({ err: error }, 'the worker cannot start');
  process.exit(1);
});
hasStarted = true;
void worker.ready.then(() => {
  log.info({ mail: config.mailProvider }, 'the worker works');
  // `npm start` waits for this before it calls the service ready.
  process.send?.('ready');
});
await told;
await worker.close();
log.info('the worker has stopped');
// Native threads of the SDK may linger for a while after everything is closed.
process.exit(0);
