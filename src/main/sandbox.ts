import { join } from 'node:path';
import { createSandbox } from '@posthorn/mail-sandbox';
import { readConfigOrExit } from '../core/config/config.ts';
import { releaseMemoryWhenIdle } from './idle-memory.ts';
import { createLogger } from './logger.ts';
import { finishAndExit, untilToldToStop } from './process.ts';

releaseMemoryWhenIdle();
const config = readConfigOrExit();
const log = createLogger(config, 'sandbox');
if (config.mailProvider !== 'sandbox') {
  log.fatal(`the settings send mail by ${config.mailProvider}: the sandbox must not run beside it`);
  process.exit(1);
}
const sandbox = await createSandbox({
  host: config.SANDBOX_HOST,
  port: config.SANDBOX_PORT,
  dataDir: join(config.DATA_DIR, 'sandbox'),
  webhookUrl: config.SANDBOX_WEBHOOK_URL,
  serviceUrls: [config.API_URI, config.DASHBOARD_URI],
  webhookUser: config.POSTMARK_WEBHOOK_USER ?? '',
  webhookPassword: config.POSTMARK_WEBHOOK_PASSWORD ?? '',
  delayMs: config.SANDBOX_DELAY_MS,
  keep: config.SANDBOX_KEEP,
}).catch((error: NodeJS.ErrnoException) => {
  const clash = error.code === 'EADDRINUSE';
  log.fatal(
    clash
      ? `port ${config.SANDBOX_PORT} is in use; the mail sandbox wanted it: set SANDBOX_PORT to another one`
      : `the mail sandbox cannot start: ${error.message}`,
  );
  process.exit(1);
});
log.info({ url: sandbox.url }, 'the mail sandbox listens');
const graceMs = config.SHUTDOWN_GRACE_SECONDS * 1_000;
await untilToldToStop();
await finishAndExit(() => sandbox.close(graceMs), graceMs + 2_000);
