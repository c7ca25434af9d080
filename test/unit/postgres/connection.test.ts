import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { isLostConnection } from '../../../src/store/postgres/connection.ts';

test('a server that is silent, not there, or gone is one to wait for', async () => {
  const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  expect(await failureAt({ port, connectionTimeoutMillis: 50 })).toSatisfy(isLostConnection);
  silent.on('connection', (socket) => socket.destroy());
  expect(await failureAt({ port })).toSatisfy(isLostConnection);
  silent.close();
  await once(silent, 'close');
  expect(await failureAt({ port })).toSatisfy(isLostConnection);
  expect(await failureAt({ host: '/nowhere', port })).toSatisfy(isLostConnection);
});

test('a password that is refused and a file that is missing are not', () => {
  expect(Object.assign(new Error('no'), { severity: 'FATAL', code: '28P01' })).not.toSatisfy(isLostConnection);
  expect(Object.assign(new Error('no'), { syscall: 'open', code: 'ENOENT' })).not.toSatisfy(isLostConnection);
});

async function failureAt(options: { host?: string; port: number; connectionTimeoutMillis?: number }): Promise<unknown> {
  const client = new Client({ host: '127.0.0.1', user: 'nobody', database: 'none', ...options });
  client.on('error', () => undefined);
  const failure = await client.connect().then(
    () => null,
    (error: unknown) => error,
  );
  await client.end().catch(() => undefined);
  return failure;
}
