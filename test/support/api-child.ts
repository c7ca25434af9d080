import { flushCompileCache } from 'node:module';
import { createInterface } from 'node:readline';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { readConfig } from '../../src/lib/config/config.ts';
import { startApi } from '../../src/main/api/api-runtime.ts';

/**
 * An API process that ends itself by SIGKILL between two steps of a request. Settings come as JSON in the first argument; it
 * says `url …` when it serves. A line `arm N` on its input kills it at the Nth moment from then on: each statement that
 * writes events, mail or keys has one when it is on its way, and one when its answer is there.
 */
async function serve(): Promise<void> {
  const config = readConfig(JSON.parse(process.argv[2] ?? '{}') as Record<string, string>);
  const api = await startApi({ ...config, PORT: 0 }, pino({ level: 'silent' }));
  // It does not live to do this at its end, and the next one starts in half the time.
  flushCompileCache();
  let momentsLeft = Number.POSITIVE_INFINITY;
  const moment = () => {
    if (--momentsLeft < 0) process.kill(process.pid, 'SIGKILL');
  };
  await killAtMoments(api.app.db.pool, moment);
  createInterface({ input: process.stdin }).on('line', (line) => {
    momentsLeft = Number(line.slice('arm '.length));
    console.log('armed');
  });
  console.log(`url ${api.url}`);
}

type Query = (...parts: unknown[]) => unknown;

const steps = /^(begin|commit)$|idempotency_keys|insert into (events|emails)|usage_counters/;

async function killAtMoments(pool: Pool, moment: () => void): Promise<void> {
  // The ORM has a copy of the driver of its own: its clients are reached by one of them.
  const client = await pool.connect();
  const prototype = Object.getPrototypeOf(client) as { query: Query };
  client.release();
  prototype.query = counted(prototype.query, moment);
  // A statement without a transaction goes through the pool, which asks its client with a callback.
  pool.query = counted(pool.query as Query, moment) as Pool['query'];
}

function counted(query: Query, moment: () => void): Query {
  return function (this: unknown, ...parts) {
    const answer = query.apply(this, parts);
    const [asked] = parts;
    const isStep = steps.test(typeof asked === 'string' ? asked : ((asked as { text?: string }).text ?? ''));
    if (!isStep || !(answer instanceof Promise)) return answer;
    moment();
    return answer.finally(moment);
  };
}

await serve();
