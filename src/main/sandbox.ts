import { join } from 'node:path';
import { createSandbox } from '@fernpost/mail-sandbox';
import { ConfigError } from '../lib/config/config.ts';
import { type Part, runAlone } from './setup/process.ts';

export const sandboxPart: Part = {
  name: 'sandbox',
  label: 'the mail sandbox',
  needs: [],
  stopWithinMs: (config) => config.SHUTDOWN_GRACE_SECONDS * 1_000 + 2_000,
  async start(config, log) {
    if (config.mailProvider !== 'sandbox')
      throw new ConfigError([`the settings send mail by ${config.mailProvider}: the sandbox must not run beside it`]);
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
    });
    log.info({ url: sandbox.url }, 'the mail sandbox listens');
    return { stop: () => sandbox.close(config.SHUTDOWN_GRACE_SECONDS * 1_000) };
  },
};

if (import.meta.main) await runAlone(sandboxPart);
