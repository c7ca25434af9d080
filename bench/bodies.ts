import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import { Pool } from 'undici';
import { RouteBody } from '../src/core/http/body.ts';

// What reading request bodies costs: by koa-body, by the service's own reader, and without any. See docs/decisions/0015.
const requests = Number(process.env.BENCH_REQUESTS ?? 20_000);
const megabyte = 1024 * 1024;
const readers = ['none', 'koa-body', 'own'] as const;
type Reader = (typeof readers)[number];

interface Usage {
  cpuMicros: number;
  peakBytes: number;
}

async function serve(reader: Reader): Promise<void> {
  const koa = new Koa();
  koa.silent = true;
  if (reader === 'koa-body') koa.use(koaBody({ jsonLimit: '50mb' }));
  koa.use(async (ctx) => {
    if (reader === 'none') ctx.req.resume();
    if (reader === 'own') {
      const body = new RouteBody();
      try {
        await body.json(ctx.req, 'document', { kind: 'keyed', id: 'project' });
      } catch (error) {
        ctx.status = (error as { status: number }).status;
        ctx.body = '';
        return;
      } finally {
        body.release();
      }
    }
    ctx.status = 204;
  });
  const server = createServer(koa.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    const usage: Usage = { cpuMicros: user + system, peakBytes: process.resourceUsage().maxRSS * 1024 };
    process.send?.(usage);
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.((server.address() as AddressInfo).port);
}

async function withServer<T>(
  reader: Reader,
  work: (pool: Pool, usage: () => Promise<Usage>) => Promise<T>,
): Promise<T> {
  const child = fork(fileURLToPath(import.meta.url), [reader]);
  const [port] = (await once(child, 'message')) as [number];
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 16, headersTimeout: 60_000 });
  try {
    return await work(pool, async () => {
      child.send('usage');
      return ((await once(child, 'message')) as [Usage])[0];
    });
  } finally {
    await pool.destroy();
    child.disconnect();
  }
}

async function post(pool: Pool, body: string | Buffer): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const answer = await pool.request({ method: 'POST', path: '/v1/track', headers, body });
  await answer.body.dump();
  return answer.statusCode;
}

const event = JSON.stringify({
  event: 'order placed',
  email: 'ada.lovelace@kunde.example',
  data: { plan: 'pro', amount: 129.5, items: [{ sku: 'A-1', count: 2 }], note: 'Grüße aus Köln, bitte klingeln' },
});

/** Microseconds of the server's processor for each request of `/v1/track`. */
function cost(reader: Reader): Promise<number> {
  return withServer(reader, async (pool, usage) => {
    const round = async () => {
      let left = requests;
      const knock = async () => {
        while (left-- > 0) await post(pool, event);
      };
      await Promise.all(Array.from({ length: 16 }, knock));
    };
    await round();
    const before = await usage();
    await round();
    return ((await usage()).cpuMicros - before.cpuMicros) / requests;
  });
}

/** What four bodies of 40 MB at once, made of nothing but `{},`, add to the server's memory, in megabytes, and the answers. */
function hostile(reader: Reader): Promise<{ megabytes: number; answers: string }> {
  return withServer(reader, async (pool, usage) => {
    await post(pool, event);
    const before = await usage();
    const body = Buffer.from(`{"z":[${'{},'.repeat((40 * megabyte) / 3)}{}]}`);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => post(pool, body).catch((error: Error) => error.message)),
    );
    const after = await usage().catch(() => null);
    return {
      megabytes: after === null ? Number.NaN : Math.round((after.peakBytes - before.peakBytes) / megabyte),
      answers: [...new Set(answers)].join(', '),
    };
  });
}

const [role] = process.argv.slice(2);
if (role !== undefined) await serve(role as Reader);
else
  for (const reader of readers) {
    const micros = (await cost(reader)).toFixed(1);
    const { megabytes, answers } = await hostile(reader);
    console.log(`${reader}: ${micros} µs a request; 4 × 40 MB of "{},": +${megabytes} MB, answered ${answers}`);
  }
