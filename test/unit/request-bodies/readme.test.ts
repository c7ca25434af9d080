import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { BodyBudget } from '../../../src/http/bodies/budget.ts';
import { BodyError } from '../../../src/http/bodies/json.ts';
import { BodyReader } from '../../../src/http/bodies/reader.ts';

test('the example of the README reads a name, and refuses what is no JSON', async () => {
  const readme = readFileSync(new URL('../../../src/http/bodies/README.md', import.meta.url), 'utf8');
  const [, code = ''] = /```ts\n(?:import [^;]+;\n)+(.*?)```/s.exec(readme) ?? [];
  const run = new Function('createServer', 'BodyBudget', 'BodyError', 'BodyReader', `${code}; return server;`);
  const server = run(createServer, BodyBudget, BodyError, BodyReader) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const post = (body: string) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });
  try {
    expect(await (await post('{"name":"Ada"}')).text()).toBe('Hello, Ada');
    expect((await post('{"name":')).status).toBe(400);
    expect((await post(`"${'a'.repeat(20_000)}"`)).status).toBe(413);
  } finally {
    server.close();
  }
});
