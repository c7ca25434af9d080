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
  return { statuses, isWhole: next < load.most };
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

// Tries to sign in on every connection, says nothing more, and keeps those open that it may. Counts the last reply on each.
async function hold({ url, secretKey, connections }: HostileOrder): Promise<HostileResult> {
  const held: Socket[] = [];
  const statuses: Record<string, number> = {};
  const signIn = `AUTH PLAIN ${Buffer.from(`\0fernpost\0${secretKey}`).toString('base64')}`;
  const next: Readonly<Record<string, string>> = { 220: 'EHLO bench.test', 250: signIn };
  const lastReply = (socket: Socket) =>
    new Promise<string>((end) => {
      socket.on('error', () => undefined);
      socket.on('close', () => end('closed'));
      socket.on('data', (data: Buffer) => {
        const code = data.toString('latin1', 0, 3);
        const line = next[code];
        if (line === undefined) end(code);
        else socket.write(`${line}\r\n`);
      });
    });
  const open = async () => {
    while (!stop.signal.aborted && held.length < connections) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      held.push(socket);
      const reply = await lastReply(socket);
      statuses[reply] = (statuses[reply] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 10 }, open));
  const isWhole = held.length >= connections;
  await new Promise<void>((resolve) => {
    if (stop.signal.aborted) resolve();
    stop.signal.addEventListener('abort', () => resolve());
  });
  const stillOpen = held.filter(({ readyState }) => readyState === 'open').length;
  for (const socket of held) socket.destroy();
  return { statuses: { ...statuses, 'open at the end': stillOpen }, isWhole };
}
