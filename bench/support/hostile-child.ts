import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { Agent, FormData, request } from 'undici';
import { type HostileOrder, type HostileRequest, type HostileResult, hostileLoads } from './hostile.ts';

// Stands for a machine elsewhere, so it takes only the processor time that nobody else wants.
setPriority(19);
const longestMs = 60_000;
const stop = new AbortController();

process.on('message', (message: HostileOrder | 'stop') => {
  if (message === 'stop') return stop.abort();
  setTimeout(() => stop.abort(), longestMs).unref();
  (message.load === 'smtp' ? hold(message) : flood(message))
    .then((result) => process.send?.(result, () => process.exit(0)))
    .catch((error) => {
      console.error(error);
      process.exit(1);
    });
});
process.on('disconnect', () => process.exit(0));

async function flood(order: HostileOrder): Promise<HostileResult> {
  const load = hostileLoads[order.load];
  if (load === undefined) throw new Error(`There is no load ${order.load}`);
  const agent = new Agent({ connections: load.connections, headersTimeout: longestMs, bodyTimeout: longestMs });
  const statuses: Record<string, number> = {};
  let next = 0;
  const ask = async () => {
    while (!stop.signal.aborted && next < load.most) {
      const { path, key = 'secretKey', ...given } = load.request(next++, order);
      const answer = await request(`${order.url}${path}`, {
        dispatcher: agent,
        ...withBody(given, order[key]),
      }).catch((error: Error & { code?: string }) => ({ statusCode: error.code ?? error.name, body: null }));
      await answer.body?.dump({ limit: Number.MAX_SAFE_INTEGER }).catch(() => undefined);
      statuses[answer.statusCode] = (statuses[answer.statusCode] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: load.connections }, ask));
  await agent.close();
  return { statuses };
}

function withBody({ method = 'POST', json, file }: Omit<HostileRequest, 'path' | 'key'>, key: string) {
  const authorization = `Bearer ${key}`;
  if (file !== undefined) {
    const body = new FormData();
    body.set('file', new File([file], 'contacts.csv', { type: 'text/csv' }));
    body.set('matchFields', 'true');
    return { method, body, headers: { authorization } };
  }
  if (json === undefined) return { method, headers: { authorization } };
  return { method, body: JSON.stringify(json), headers: { authorization, 'content-type': 'application/json' } };
}

// Signs in on every connection, and says nothing more.
async function hold({ url, secretKey, connections }: HostileOrder): Promise<HostileResult> {
  const held: Socket[] = [];
  const statuses: Record<string, number> = {};
  const count = (reply: string) => {
    statuses[reply] = (statuses[reply] ?? 0) + 1;
  };
  const open = async () => {
    while (!stop.signal.aborted && held.length < connections) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      held.push(socket);
      socket.on('error', () => undefined);
      const replies = ['EHLO bench.test', `AUTH PLAIN ${Buffer.from(`\0fernpost\0${secretKey}`).toString('base64')}`];
      await new Promise<void>((resolve) => {
        socket.on('close', () => resolve());
        socket.on('data', (data: Buffer) => {
          const line = replies.shift();
          if (line !== undefined) return socket.write(`${line}\r\n`);
          count(data.toString('latin1', 0, 3));
          resolve();
        });
      });
    }
  };
  await Promise.all(Array.from({ length: 10 }, open));
  await new Promise<void>((resolve) => {
    if (stop.signal.aborted) resolve();
    stop.signal.addEventListener('abort', () => resolve());
  });
  for (const socket of held) socket.destroy();
  return { statuses };
}
