import { once } from 'node:events';
import { Agent, get, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../src/server.ts';

/** A server with one request under way, on a connection that its client wants to keep. */
async function withRequest() {
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = await listen((_, response) => arrived.resolve(response), '127.0.0.1', 0);
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const request = get({ port: server.port, host: '127.0.0.1', agent });
  return { server, request, response: await arrived.promise };
}

test('a server that stops answers what is under way, and does not wait for the connection afterwards', async () => {
  const { server, request, response } = await withRequest();
  const answered = once(request, 'response');
  const stopped = server.stop(3_600_000);
  response.end('done');
  const [answer] = await answered;
  expect(await answer.setEncoding('utf8').toArray()).toEqual(['done']);
  await stopped;
});

test('what takes longer than it may is cut', async () => {
  const { server, request } = await withRequest();
  const cut = once(request, 'error');
  await server.stop(0);
  expect((await cut)[0]).toMatchObject({ code: 'ECONNRESET' });
});
