import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { installTemporalRuntime } from '../../src/main/worker/temporal-workers.ts';
import { openStore } from '../../src/store/orm.ts';

// The worker of the floor: polls as ours does, and its activity is one short transaction.
const { DATABASE_URL = '', TEMPORAL_ADDRESS = '', TEMPORAL_TASK_QUEUE = '' } = process.env;
installTemporalRuntime(pino({ level: 'warn' }), null);
// Without entities: its statements are its own.
const { db } = await openStore({ url: DATABASE_URL, poolSize: 10, applicationName: 'bench-floor' }, []);
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: TEMPORAL_ADDRESS }),
  taskQueue: `${TEMPORAL_TASK_QUEUE}-bare`,
  workflowsPath: fileURLToPath(new URL('./automation-bare.ts', import.meta.url)),
  activities: {
    bareStep: (id: string, step: number) =>
      db.transaction(async (sql) => {
        await sql.row('select step from bare_runs where id = $1 for update', [id]);
        await sql.count('update bare_runs set step = $2 where id = $1', [id, step]);
      }),
  },
  maxCachedWorkflows: 500,
  workflowTaskPollerBehavior: { type: 'autoscaling', initial: 2, maximum: 20 },
  activityTaskPollerBehavior: { type: 'autoscaling', initial: 2, maximum: 20 },
});
const running = worker.run();
process.stdout.write('the worker works\n');
process.once('SIGTERM', () => worker.shutdown());
await running;
process.exit(0);
