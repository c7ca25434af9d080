import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { usualLimits } from '../../../src/http/server/server.ts';
import { aProject, type TestProject, testApi } from '../../support/api.ts';
import { apiProcess } from '../../support/api-process.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let project: TestProject;
const settings = () => ({
  DATABASE_URL: database.url,
  TEMPORAL_ADDRESS: inject('temporalAddress'),
  TEMPORAL_TASK_QUEUE: 'test-shutdown',
});

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database);
});
afterAll(() => database.close());

/** A mail whose body has not come yet; resolves when the API has taken up the request. */
async function halfSent(port: number): Promise<{ asked: ClientRequest; rest: string }> {
  const body = JSON.stringify({ to: 'a@example.com', from: project.sender, subject: 's', body: 'b' });
  const asked = request({
    port,
    method: 'POST',
    path: '/v1/send',
    headers: {
      Authorization: `Bearer ${project.secretKey}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      Expect: '100-continue',
    },
  });
  asked.flushHeaders();
  await once(asked, 'continue');
  asked.write(body.slice(0, 10));
  return { asked, rest: body.slice(10) };
}

test.each(['node', 'npm'] as const)('SIGTERM to %s lets a mail that is being accepted through', async (by) => {
  await using api = await apiProcess(settings(), by);
  const { asked, rest } = await halfSent(api.port);
  // Ctrl-C below npm comes twice.
  api.signal('SIGTERM');
  api.signal('SIGTERM');
  await expect.poll(() => api.log).toContain('finishes what is under way');
  // Longer than the API used to wait.
  await sleep(2_000);
  asked.end(rest);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const accepted = (await json(answer)) as { data: { emails: { email: string }[] } };
  expect([answer.statusCode, answer.headers.connection]).toEqual([200, 'close']);
  expect(await api.ended).toBe(0);
  const kept = await database.db.row('select 1 from emails where id = $1', [accepted.data.emails[0]?.email]);
  expect(kept).not.toBeNull();
});

test('a request that takes longer than SHUTDOWN_GRACE_SECONDS is cut, and the log says so', async () => {
  await using api = await apiProcess({ ...settings(), SHUTDOWN_GRACE_SECONDS: '1' });
  const { asked } = await halfSent(api.port);
  const cut = once(asked, 'error');
  api.signal('SIGTERM');
  expect(await cut).toMatchObject([{ code: 'ECONNRESET' }]);
  // A busy machine may take longer than the limit for the rest of the end, which is a status of 1 then.
  await api.ended;
  expect(api.log).toContain('"requests":1');
});

test('a body that drips is answered with the envelope, and nothing is accepted', async () => {
  const limits = { ...usualLimits, body: { startMs: 200, bytesPerSecond: 1_000, checkMs: 20 } };
  await using api = await testApi(database, {}, { limits });
  const socket = connect(api.port, '127.0.0.1');
  socket.on('error', () => undefined);
  const headers = `Host: x\r\nAuthorization: Bearer ${project.secretKey}\r\nContent-Type: application/json`;
  socket.write(`POST /v1/send HTTP/1.1\r\n${headers}\r\nContent-Length: 1000000\r\n\r\n{"to":`);
  const drip = setInterval(() => socket.write(' '), 20);
  // The connection may end with a reset, since what dripped last is never read; the answer has come before.
  let said = '';
  socket.on('data', (chunk) => {
    said += chunk;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(drip);
  const [head = '', body = ''] = said.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 408 .*Connection: close/s);
  const answer = JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1));
  expect(answer).toMatchObject({ success: false, error: { code: 'REQUEST_TIMEOUT', statusCode: 408 } });
  expect(head).toContain(answer.error.requestId);
});
