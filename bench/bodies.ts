import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import { Pool } from 'undici';
import { type BodyLimitName, RouteBody } from '../src/http/body.ts';

// The cost of reading request bodies: by koa-body as it comes, by the service on a route of 2 MB, which koa-body reads for it as text,
// by the service on a route of 50 MB, which its own reader reads, and without reading. See docs/decisions/0037.
const requests = Number(process.env.BENCH_REQUESTS ?? 20_000);
const megabyte = 1024 * 1024;
const limits: Record<string, BodyLimitName> = { 'service, 2 MB': 'data', 'service, 50 MB': 'document' };
const readers = ['none', 'koa-body', ...Object.keys(limits)];

interface Usage {
  cpuMicros: number;
  peakBytes: number;
}

async function serve(reader: string): Promise<void> {
  const koa = new Koa();
  koa.silent = true;
  if (reader === 'koa-body') koa.use(koaBody({ jsonLimit: '50mb' }));
  const limit = limits[reader];
  koa.use(async (ctx) => {
    if (reader === 'none') ctx.req.resume();
    if (limit !== undefined) {
      const body = new RouteBody();
      try {
        await body.json(ctx, limit, { kind: 'keyed', id: 'project' });
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
    // `maxRSS` would begin with the memory of the process that started this one.
    const [, peakKilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    const usage: Usage = { cpuMicros: user + system, peakBytes: Number(peakKilobytes) * 1024 };
    process.send?.(usage);
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.((server.address() as AddressInfo).port);
}

async function withServer<T>(
  reader: string,
  work: (pool: Pool, usage: () => Promise<Usage>, port: number) => Promise<T>,
): Promise<T> {
  const child = fork(fileURLToPath(import.meta.url), [reader]);
  const [port] = (await once(child, 'message')) as [number];
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64, headersTimeout: 60_000 });
  const usage = async () => {
    child.send('usage');
    return ((await once(child, 'message')) as [Usage])[0];
  };
  try {
    return await work(pool, usage, port);
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

async function postAll(pool: Pool, body: string | Buffer, times: number, parallel: number): Promise<string> {
  const answers = new Set<number | string>();
  let left = times;
  const client = async () => {
    while (left-- > 0) answers.add(await post(pool, body).catch((error: Error) => error.message));
  };
  await Promise.all(Array.from({ length: parallel }, client));
  return [...answers].join(', ');
}

const event = JSON.stringify({
  event: 'order placed',
  email: 'ada.lovelace@kunde.example',
  data: { plan: 'pro', amount: 129.5, items: [{ sku: 'A-1', count: 2 }], note: 'Grüße aus Köln, bitte klingeln' },
});
const contact = (bytes: number) => JSON.stringify({ email: 'ada@example.com', data: { notes: 'x'.repeat(bytes) } });
const repeated = (start: string, filling: string, end: string, bytes: number) =>
  Buffer.from(start + filling.repeat(Math.floor((bytes - start.length - end.length) / filling.length)) + end);

/** The bodies to send, how often, and how many at a time. */
const loads: Record<string, { body: string | Buffer; times: number; parallel: number }> = {
  'an event of 200 bytes': { body: event, times: requests, parallel: 16 },
  'a contact of 100 kB': { body: contact(100_000), times: 500, parallel: 16 },
  '2 MB of "{},"': { body: repeated('{"z":[', '{},', '{}]}', 2 * megabyte), times: 64, parallel: 64 },
  '2 MB of numbers': { body: repeated('{"z":[', '1,', '1]}', 2 * megabyte), times: 64, parallel: 64 },
  '2 MB of "["': { body: repeated('', '[', '', 2 * megabyte), times: 64, parallel: 64 },
  '40 MB of "{},"': { body: repeated('{"z":[', '{},', '{}]}', 40 * megabyte), times: 4, parallel: 4 },
};

/** Microseconds of the server's processor for each request of a load, and by how many megabytes its memory grows. */
function measure(reader: string, name: string): Promise<string> {
  return withServer(reader, async (pool, usage) => {
    const { body, times, parallel } = loads[name] as (typeof loads)[string];
    await postAll(pool, event, Math.min(requests, 5_000), 16);
    const before = await usage();
    const answers = await postAll(pool, body, times, parallel);
    const after = await usage().catch(() => ({ cpuMicros: Number.NaN, peakBytes: Number.NaN }));
    const micros = (after.cpuMicros - before.cpuMicros) / times;
    return `${micros.toFixed(1)} µs, +${megabytes(after.peakBytes - before.peakBytes)} MB, answered ${answers}`;
  });
}

/** By how many megabytes memory grows for a thousand bodies of 256 kB that stop before their last byte. */
function slow(reader: string): Promise<string> {
  return withServer(reader, async (pool, usage, port) => {
    await postAll(pool, event, 1_000, 16);
    const before = await usage();
    const begun = Buffer.from(`{"email":"${'x'.repeat(256 * 1024 - 11)}`);
    const sockets = Array.from({ length: 1_000 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${begun.length + 1}\r\n\r\n`;
    for (const socket of sockets) socket.write(Buffer.concat([Buffer.from(head), begun]));
    let after = await usage();
    // Until nothing more arrives.
    for (let last = -1; after.peakBytes > last; after = await usage()) {
      last = after.peakBytes;
      await pause(4_000);
    }
    for (const socket of sockets) socket.destroy();
    return `+${megabytes(after.peakBytes - before.peakBytes)} MB`;
  });
}

function megabytes(bytes: number): number {
  return Math.round(bytes / megabyte);
}

const [role] = process.argv.slice(2);
if (role !== undefined) await serve(role);
else {
  for (const name of Object.keys(loads))
    for (const reader of readers) console.log(`${name}; ${reader}: ${await measure(reader, name)}`);
  for (const reader of readers) console.log(`1,000 slow bodies of 256 kB; ${reader}: ${await slow(reader)}`);
}
