// One process of the campaign benchmark: the sink, the worker, or the hand-written loop. Each answers the parent's messages, and
// loads only what it is: a garbage collection visits all code of a process.

import { type Turns, watchTurns } from './turns.ts';

/** A request of the parent to a process. `turns`: of the event loop, since it was asked for the last time. */
export type Request = 'usage' | 'count' | 'reset' | 'turns' | { floor: { campaignId: string; inFlight: number } };

/** Resources that a process has used since it started, and its peak memory since the last request. */
export interface Usage {
  cpuSeconds: number;
  peakRssMb: number;
}

const [role = '', argument = ''] = process.argv.slice(2);
let peakRss = 0;
setInterval(() => {
  peakRss = Math.max(peakRss, process.memoryUsage.rss());
}, 100).unref();

const roles: Record<string, () => Promise<{ ready: object; answer(request: Request): unknown }>> = {
  async sink() {
    const { startSink } = await import('./sink.ts');
    const sink = await startSink(Number(argument));
    return {
      ready: { url: sink.url },
      answer: (request) => (request === 'count' ? sink.count() : sink.reset()),
    };
  },
  async worker() {
    const [{ readConfig }, { createLogger }, { startWorker }, { traceAsSet }] = await Promise.all([
      import('../../src/lib/config/config.ts'),
      import('../../src/main/setup/process.ts'),
      import('../../src/main/worker/worker-runtime.ts'),
      import('./traces.ts'),
    ]);
    const config = readConfig(process.env, ['DATABASE_URL', 'TEMPORAL_ADDRESS']);
    await traceAsSet(config);
    const worker = await startWorker(config, createLogger(config, 'worker'));
    await worker.ready;
    return { ready: {}, answer: () => null };
  },
  async floor() {
    const { runFloor } = await import('./campaign-floor.ts');
    const settings = JSON.parse(argument) as { databaseUrl: string; sinkUrl: string; projectId: string };
    return {
      ready: {},
      answer: (request) => (typeof request === 'object' ? runFloor({ ...settings, ...request.floor }) : null),
    };
  },
};

const start = roles[role];
if (start === undefined) throw new Error(`No such role: ${role}`);
const { ready, answer } = await start();
let turns: (() => Turns) | null = null;
process.on('message', async (request: Request) => {
  if (request === 'turns') {
    turns ??= watchTurns();
    return void process.send?.(turns());
  }
  if (request !== 'usage') return void process.send?.((await answer(request)) ?? {});
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuSeconds: (user + system) / 1e6, peakRssMb: peakRss / 1e6 } satisfies Usage);
  peakRss = process.memoryUsage.rss();
});
process.on('disconnect', () => process.exit(0));
process.send?.(ready);
