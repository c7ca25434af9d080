import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type RunningServer, type ServerLimits, serve, usualLimits } from '../../../src/http/server/server.ts';

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

async function server(listener: Listener, limits: Partial<ServerLimits> = {}) {
  const running = await serve(listener, { port: 0, host: '127.0.0.1', limits: { ...usualLimits, ...limits } });
  return {
    ...running,
    async [Symbol.asyncDispose]() {
      await running.stop({ graceMs: 0 });
    },
  };
}

/** Opens a connection that is written to by hand. `ended` resolves to all that came, when the server has closed it. */
async function byHand({ port }: RunningServer): Promise<{ socket: Socket; ended: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const ended = text(socket).catch(() => 'reset');
  return { socket, ended };
}

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const post = (length: number) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

test('a request under way finishes, and its connection ends with the answer', async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  await using api = await server((_, response) => asked.resolve(response));
  const { socket, ended } = await byHand(api);
  socket.write(get);
  const response = await asked.promise;
  const stopped = api.stop({ graceMs: 60_000 });
  await expect(byHand(api)).rejects.toThrow('ECONNREFUSED');
  response.end('done');
  expect(await ended).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n.*done/s);
  expect(await stopped).toBe(0);
});

test('an answer that had begun is finished, and its connection ends', async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  await using api = await server((_, response) => asked.resolve(response));
  const { socket, ended } = await byHand(api);
  socket.write(get);
  const response = await asked.promise;
  response.write('first ');
  const stopped = api.stop({ graceMs: 60_000 });
  response.end('last');
  expect(await ended).toMatch(/keep-alive.*first .*last/s);
  expect(await stopped).toBe(0);
});

test('a request on a connection that is kept alive is still answered, as the last one of it', async () => {
  await using api = await server((_, response) => response.end('here'));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async () => {
    const asked = httpRequest({ port: api.port, agent });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return [answer.headers.connection, await text(answer)];
  };
  expect(await ask()).toEqual(['keep-alive', 'here']);
  const stopped = api.stop({ graceMs: 60_000, lingerMs: 60_000 });
  expect(await ask()).toEqual(['close', 'here']);
  expect(await stopped).toBe(0);
});

test('connections without a request do not hold up the end', async () => {
  await using api = await server((_, response) => response.end('here'));
  const used = await byHand(api);
  used.socket.write(get);
  await once(used.socket, 'data');
  const unused = await byHand(api);
  expect(await api.stop({ graceMs: 60_000 })).toBe(0);
  expect(await used.ended).toContain('keep-alive');
  expect(await unused.ended).toBe('');
});

test('a request that takes longer than it may is cut, and counted', async () => {
  const asked = Promise.withResolvers<void>();
  await using api = await server(() => asked.resolve());
  const { socket, ended } = await byHand(api);
  socket.write(get);
  await asked.promise;
  expect(await api.stop({ graceMs: 10 })).toBe(1);
  expect(await ended).not.toContain('HTTP');
});

test('headers that never end are cut', async () => {
  await using api = await server((_, response) => response.end(), { headersMs: 100 });
  const { socket, ended } = await byHand(api);
  socket.write('GET / HTTP/1.1\r\nX-Slow:');
  const drip = setInterval(() => socket.write('x'), 20);
  expect(await ended).toMatch(/^(HTTP\/1\.1 408|reset)/);
  clearInterval(drip);
});

test('a body that drips is answered with 408 and cut, and whoever reads it hears of it', async () => {
  const heard = Promise.withResolvers<unknown>();
  const body = { startMs: 100, bytesPerSecond: 1_000, checkMs: 20 };
  await using api = await server((request) => text(request).catch(heard.resolve), { body });
  const { socket, ended } = await byHand(api);
  // Nothing comes after the server has cut it: that would reset the connection, with an answer that nobody has read yet.
  socket.write(`${post(1_000_000)}x`);
  expect(await ended).toMatch(/^HTTP\/1\.1 408 .*Connection: close.*too slowly/s);
  expect(await heard.promise).toBeInstanceOf(Error);
});

test('what has come gives a slow body more time', async () => {
  const asked = Promise.withResolvers<void>();
  const body = { startMs: 200, bytesPerSecond: 1, checkMs: 10 };
  await using api = await server(
    async (request, response) => {
      asked.resolve();
      response.end(await text(request));
    },
    { body },
  );
  const { socket, ended } = await byHand(api);
  socket.write(post(601));
  await asked.promise;
  socket.write('a'.repeat(600));
  await sleep(600);
  socket.write('b');
  socket.end();
  expect(await ended).toMatch(/^HTTP\/1\.1 200 .*ab/s);
});

test('a body that waits for the server is not slow', async () => {
  const read = Promise.withResolvers<void>();
  const body = { startMs: 200, bytesPerSecond: 1_000_000, checkMs: 10 };
  await using api = await server(
    async (request, response) => {
      await read.promise;
      response.end(await text(request));
    },
    { body },
  );
  const { socket, ended } = await byHand(api);
  socket.write(`${post(3)}ab`);
  await sleep(600);
  socket.write('c');
  read.resolve();
  socket.end();
  expect(await ended).toMatch(/^HTTP\/1\.1 200 .*abc/s);
});

test('who does not read the answer is cut, and who waits for one is not', async () => {
  const cut = Promise.withResolvers<boolean>();
  await using api = await server(
    async (request, response) => {
      if (request.url === '/thinks') {
        await once(request.socket, 'timeout');
        response.end('thought');
        return;
      }
      response.once('close', () => cut.resolve(response.writableFinished));
      response.end(Buffer.alloc(64 << 20));
    },
    { unreadMs: 1_000 },
  );
  const deaf = connect(api.port, '127.0.0.1');
  deaf.on('error', () => {});
  deaf.write(get);
  expect(await cut.promise).toBe(false);
  deaf.destroy();
  expect(await (await fetch(`http://127.0.0.1:${api.port}/thinks`)).text()).toBe('thought');
});
