import { pino } from 'pino';
import { entities } from '../../src/main/setup/database-settings.ts';
import { installTemporalRuntime } from '../../src/main/worker/temporal-workers.ts';
import { workflowBundle } from '../../src/main/worker/workflow-bundle.ts';
import { openStore } from '../../src/store/orm.ts';
import { testSimulations } from './jobs.ts';
import { stopping } from './stopping-database.ts';

/**
 * A worker process that a test kills: it serves the jobs of one queue and comes to a stop in the middle of one. Arguments:
 * database URL, Temporal address, prefix of the queues, and where to stop: `before-commit` or `after-commit` of the second
 * transaction. It tells its parent when it is there, and does nothing more.
 */
async function main([url = '', address = '', queuePrefix = '', stopAt = '']: string[]): Promise<void> {
  const { NativeConnection, Worker } = await import('@temporalio/worker');
  const { jobActivities } = await import('../../activities/jobs.ts');
  installTemporalRuntime(pino({ level: 'silent' }), null);
  const store = await openStore({ url, poolSize: 4, applicationName: 'doomed worker' }, entities);
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    namespace: 'default',
    taskQueue: `${queuePrefix}-bulk`,
    workflowBundle: await workflowBundle(),
    activities: jobActivities({
      db: stopping(store.db, stopAt, 2),
      log: pino({ level: 'silent' }),
      stopping: new AbortController().signal,
      encryptionKeys: [],
      startsPerHour: 0,
      simulations: testSimulations,
      dispatchSoon() {},
    }),
  });
  process.send?.('ready');
  await worker.run();
}

await main(process.argv.slice(2));
