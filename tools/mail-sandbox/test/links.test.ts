import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { SandboxInbox } from '@fernpost/sdk/testing';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../src/server.ts';
import { message, startSandbox } from './support.ts';

const service = 'https://mail.acme.test';
const oneClick = (address: string) => [
  { Name: 'List-Unsubscribe', Value: `<${address}>` },
  { Name: 'List-Unsubscribe-Post', Value: 'List-Unsubscribe=One-Click' },
];

/** A service that notes what it is asked, and a sandbox that knows it under its public address. */
async function aService(answer: { status: number; location?: string } = { status: 200 }) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      asked.push(`${request.method} ${request.headers.host}${request.url} ${Buffer.concat(chunks)}`.trim());
      if (request.url === '/webhooks/postmark') asked.pop();
      response.writeHead(answer.status, answer.location ? { location: answer.location } : {}).end('A page');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const sandbox = await startSandbox({
    webhookUrl: `http://127.0.0.1:${port}/webhooks/postmark`,
    serviceUrls: [service],
  });
  return { asked, sandbox, inbox: new SandboxInbox(sandbox.url) };
}

test('waits for a message, and answers at once when it is there', async () => {
  const sandbox = await startSandbox();
  const inbox = new SandboxInbox(sandbox.url);
  const waiting = inbox.waitFor({ to: 'ada@example.com', subject: 'aboard' }, 60);
  await sandbox.server.sendEmail(message({ To: 'grace@example.com' }));
  await sandbox.server.sendEmail(message());
  expect(await waiting).toMatchObject({
    subject: 'Welcome aboard',
    text: 'Hi Ada',
    to: [{ email: 'ada@example.com' }],
  });
  expect((await inbox.waitFor({ to: 'grace@example.com' })).to[0]?.email).toBe('grace@example.com');
  const since = new Date(Date.now() + 60_000);
  await expect(inbox.waitFor({ to: 'ada@example.com', since }, 0)).rejects.toThrow('No message to ada@example.com');
});

test.each(['wait=x', 'wait=61s', 'wait=-1s', 'since=yesterday'])('refuses %s', async (query) => {
  const { get } = await startSandbox();
  expect((await get(`/api/messages?${query}`)).status).toBe(422);
});

test('stops waiting when the sandbox closes', async () => {
  const sandbox = await startSandbox();
  // The interim answer says that the request has arrived.
  const waiting = request(`${sandbox.url}/api/messages?wait=60s`, { headers: { Expect: '100-continue' } }).end();
  const answered = once(waiting, 'response');
  await once(waiting, 'continue');
  await sandbox.close(1_000);
  const [response] = (await answered) as [IncomingMessage];
  expect(await json(response)).toEqual({ total: 0, messages: [] });
});

test('opens a link of the service and reports the click', async () => {
  const { asked, sandbox, inbox } = await aService({ status: 302, location: 'https://elsewhere.test/' });
  const HtmlBody = `<a href="https://acme.test/">Home</a> <a href="${service}/subscribe/1?e=2&amp;t=3">Confirm</a>`;
  const { MessageID } = await sandbox.server.sendEmail(message({ HtmlBody }));
  const { link, answer } = await inbox.click({ id: MessageID }, '/subscribe/');
  expect(link).toBe(`${service}/subscribe/1?e=2&t=3`);
  expect(answer).toEqual({ status: 302, location: 'https://elsewhere.test/', body: 'A page' });
  expect(asked).toEqual(['GET mail.acme.test/subscribe/1?e=2&t=3']);
  const { events } = await inbox.waitFor({ to: 'ada@example.com' });
  expect(events.filter(({ type }) => type === 'click')).toMatchObject([{ link }]);
});

test('unsubscribes in one click', async () => {
  const { asked, sandbox, inbox } = await aService();
  const { MessageID } = await sandbox.server.sendEmail(message({ Headers: oneClick(`${service}/unsubscribe/1?t=3`) }));
  expect((await inbox.unsubscribe({ id: MessageID })).answer.status).toBe(200);
  expect(asked).toEqual(['POST mail.acme.test/unsubscribe/1?t=3 List-Unsubscribe=One-Click']);
});

test.each([
  'http://169.254.169.254/latest/meta-data',
  'http://mail.acme.test/other-scheme',
  'https://mail.acme.test:8443/other-port',
  'https://mail.acme.test@127.0.0.1/',
  'https://mail.acme.test.evil.test/',
  'file:///etc/passwd',
])('requests nothing of %s, which is not the service', async (address) => {
  const { asked, sandbox, inbox } = await aService();
  const HtmlBody = `<a href="${address}">Click</a>`;
  const { MessageID } = await sandbox.server.sendEmail(message({ HtmlBody, Headers: oneClick(address) }));
  const clicked = await inbox.click({ id: MessageID }).catch((error: Error) => error.message);
  if (typeof clicked === 'string') expect(clicked).toContain('has no such link');
  else expect(clicked.answer).toBeNull();
  await expect(inbox.unsubscribe({ id: MessageID })).rejects.toThrow('422');
  expect(asked).toEqual([]);
});

test('says when the service does not answer', async () => {
  const gone = await listen(() => undefined, '127.0.0.1', 0);
  await gone.stop(0);
  const url = `http://127.0.0.1:${gone.port}`;
  const sandbox = await startSandbox({ serviceUrls: [url] });
  const { MessageID } = await sandbox.server.sendEmail(message({ HtmlBody: `<a href="${url}/x">x</a>` }));
  await expect(new SandboxInbox(sandbox.url).click({ id: MessageID })).rejects.toThrow('502');
});
