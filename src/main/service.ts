import { readConfigOrExit } from '../lib/config/config.ts';
import { migrate } from './migrate.ts';
import { firstProjectOrNeeds } from './projects/first-project.ts';
import { finishAndExit, keepMemoryLow, startPart, supervisorSays, untilStopped } from './setup/process.ts';
import { stopInOrder } from './start/our-processes.ts';

// The process that `npm start` runs: the parts that its arguments name, all of them in one process. With `prepare` among them it first does what
// `npm run migrate` does, and makes the first project. What a part has acknowledged is in Postgres, Temporal or the sandbox's log, so
// that the end of one, which is the end of all, loses nothing.
const parts = {
  sandbox: async () => (await import('./sandbox.ts')).sandboxPart,
  worker: async () => (await import('./worker.ts')).workerPart,
  api: async () => (await import('./api.ts')).apiPart,
  smtp: async () => (await import('./smtp.ts')).smtpPart,
};

keepMemoryLow();
const named = new Set(process.argv.slice(2));
const config = readConfigOrExit(['DATABASE_URL', 'TEMPORAL_ADDRESS']);
const stopped = untilStopped();
let hasStarted = false;
void stopped.then(() => hasStarted || process.exit(0));

// The code is loaded while the servers start.
const chosen = await Promise.all(Object.entries(parts).flatMap(([name, load]) => (named.has(name) ? [load()] : [])));
// That Postgres and Temporal are there.
await supervisorSays();
if (named.has('prepare') && !(await migrate(config))) process.exit(1);
process.send?.('prepared');
// Whoever finds the API ready finds the first project in its file as well.
if (named.has('prepare')) {
  process.send?.(await firstProjectOrNeeds(config));
  await supervisorSays();
}
const running = await Promise.all(
  chosen.map(async (part) => ({ name: part.name, ...(await startPart(part, config)) })),
);
hasStarted = true;
await Promise.all(running.map(({ ready }) => ready));
process.send?.('ready');
await stopped;
await finishAndExit(() => stopInOrder(running), Math.max(...chosen.map((part) => part.stopWithinMs(config))));
