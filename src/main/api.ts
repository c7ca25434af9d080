import { startApi } from './api/api-runtime.ts';
import { describeMail, mailWarnings } from './setup/mail.ts';
import { type Part, runAlone } from './setup/process.ts';

/** A request that was sent before its client heard of the end has arrived by then. */
const idleConnectionsMs = 1_000;
/** How long database, Temporal and what was written after the last answers may take. */
const lettingGoMs = 4_000;

export const apiPart: Part = {
  name: 'api',
  label: 'the API',
  needs: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  stopWithinMs: (config) => config.SHUTDOWN_GRACE_SECONDS * 1_000 + lettingGoMs,
  async start(config, log) {
    for (const warning of mailWarnings(config)) log.warn(warning);
    const api = await startApi(config, log);
    log.info({ port: api.port, host: config.HOST, mail: describeMail(config) }, 'the API listens');
    return {
      async stop() {
        log.info('the API finishes what is under way');
        await api.close(idleConnectionsMs);
        log.info('the API has stopped');
      },
    };
  },
};

if (import.meta.main) await runAlone(apiPart);
