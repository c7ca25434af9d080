import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { answers, freePorts, requireFreePorts } from '../src/ports.ts';

test('a port in use is an error that names the port, what wanted it and the setting', async () => {
  const [free = 0] = await freePorts(1);
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const name = readFileSync('/proc/self/comm', 'utf8').trim();
  const want = (port: number, wantedBy: string, setting: string) => ({ port, wantedBy, setting, host: '127.0.0.1' });
  try {
    await expect(answers(address.port, '127.0.0.1')).resolves.toBe(true);
    await expect(
      requireFreePorts([want(free, 'the API', 'PORT'), want(address.port, 'Temporal', 'TEMPORAL_PORT')]),
    ).rejects.toThrow(
      `Port ${address.port} is in use by ${name} (process ${process.pid}); Temporal wants it. Set TEMPORAL_PORT to another.`,
    );
    // The start goes on without an optional one.
    const optional = { ...want(address.port, 'SMTP submission', 'SMTP_IN_PORT'), optional: true };
    expect(await requireFreePorts([want(free, 'the API', 'PORT'), optional])).toMatchObject([
      { setting: 'SMTP_IN_PORT', problem: expect.stringContaining('; SMTP submission wants it') },
    ]);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  await expect(requireFreePorts([want(address.port, 'Temporal', 'TEMPORAL_PORT')])).resolves.toEqual([]);
});

test('one port wanted twice is an error that names both settings', async () => {
  const [port = 0] = await freePorts(1);
  const both = [
    { port, host: '127.0.0.1', wantedBy: 'the API', setting: 'PORT' },
    { port, host: '127.0.0.1', wantedBy: 'the mail sandbox', setting: 'SANDBOX_PORT' },
  ];
  await expect(requireFreePorts(both)).rejects.toThrow(
    `Port ${port} is also PORT; the mail sandbox wants it. Set SANDBOX_PORT`,
  );
});

test('free ports are all different', async () => {
  const ports = await freePorts(10);
  expect(new Set(ports).size).toBe(10);
});
