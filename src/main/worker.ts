import { type Part, runAlone } from './setup/process.ts';
import { startWorker } from './worker/worker-runtime.ts';

export const workerPart: Part = {
  name: 'worker',
  label: 'the worker',
  needs: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  // Its activities have limits of their own; what is longer than them is stuck.
  stopWithinMs: () => 60_000,
  async start(config, log) {
    const worker = await startWorker(config, log);
    void worker.ready.then(() => log.info({ mail: config.mailProvider }, 'the worker works'));
    return {
      ready: worker.ready,
      async stop() {
        await worker.close();
        log.info('the worker has stopped');
      },
    };
  },
};

if (import.meta.main) await runAlone(workerPart);
