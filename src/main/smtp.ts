import { describeMail } from './setup/mail.ts';
import { type Part, runAlone } from './setup/process.ts';
import { startSmtp } from './smtp/smtp-runtime.ts';

/** How long database, Temporal and what was written after the last answers may take. */
const lettingGoMs = 4_000;

export const smtpPart: Part = {
  name: 'smtp',
  label: 'SMTP submission',
  needs: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  stopWithinMs: (config) => config.SHUTDOWN_GRACE_SECONDS * 1_000 + lettingGoMs,
  async start(config, log) {
    const smtp = await startSmtp(config, log);
    if (config.SMTP_IN_TLS_CERT === null)
      log.warn('SMTP_IN_TLS_CERT is not set: only clients on this machine can sign in by SMTP');
    log.info({ ports: smtp.ports, host: config.SMTP_IN_HOST, mail: describeMail(config) }, 'SMTP submission listens');
    return {
      async stop() {
        log.info('SMTP submission finishes what is under way');
        await smtp.close();
        log.info('SMTP submission has stopped');
      },
    };
  },
};

if (import.meta.main) await runAlone(smtpPart);
