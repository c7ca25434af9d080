import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Models } from 'postmark';
import { expect, onTestFinished, test, vi } from 'vitest';
import { callsTo, clientsOf, message, startReceiver, startSandbox } from './support.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

const batchOf = (count: number, from = 0, fields = {}) =>
  Array.from({ length: count }, (_, i) =>
    message({ To: `p${from + i}@example.com`, Metadata: { eid: `${from + i}` }, ...fields }),
  );

test('keeps messages, events and totals over a restart', async () => {
  const dataDir = newFolder();
  const before = await startSandbox({ dataDir });
  const [sent] = await before.server.sendEmailBatch(batchOf(3));
  const id = sent?.MessageID ?? '';
  await before.post(`/api/messages/${id}/events`, { type: 'hardBounce' });
  await before.get(`/inbox/${id}`);
  await before.close();

  const after = await startSandbox({ dataDir });
  const kept = (await after.get(`/api/messages/${id}`)).json();
  expect(kept).toMatchObject({ subject: 'Welcome aboard', text: 'Hi Ada', metadata: { eid: '0' } });
  expect(kept.events.map((event: { type: string }) => event.type)).toContain('hardBounce');
  expect((await after.get('/')).text).toContain('2 unread · 3 messages');
  const found = Object.assign(new Models.OutboundMessagesFilteringParameters(10, 0), { metadata_eid: '2' });
  expect((await after.server.getOutboundMessages(found)).TotalCount).toBe(1);
  await after.server.sendEmail(message());
  expect((await after.get('/api/stats')).json()).toMatchObject({ accepted: 4, stored: 4 });
});

test('what was accepted survives kill -9, in full and once', async () => {
  const dataDir = newFolder();
  const server = fileURLToPath(new URL('../src/server.ts', import.meta.url));
  const options = { host: '127.0.0.1', port: 0, dataDir, webhookUrl: null, webhookUser: '', webhookPassword: '' };
  const code = `import { createSandbox } from ${JSON.stringify(server)};
    console.log((await createSandbox({ ...${JSON.stringify(options)}, delayMs: 10_000 })).url);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  const client = clientsOf(String(line).trim()).server;

  const accepted = new Set<string>();
  const lanes = Array.from({ length: 4 }, async (_, lane) => {
    for (let i = 0; ; i += 1) {
      const answers = await client.sendEmailBatch(batchOf(50, (lane * 1_000 + i) * 50)).catch(() => null);
      if (!answers) break;
      for (const answer of answers) accepted.add(answer.MessageID);
    }
  });
  await vi.waitFor(() => expect(accepted.size).toBeGreaterThan(1_000), { timeout: 600_000 });
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  await Promise.all(lanes);

  const after = await startSandbox({ dataDir });
  for (const id of accepted) expect((await after.get(`/api/messages/${id}`)).status, id).toBe(200);
  const stats = (await after.get('/api/stats?metadata=eid')).json();
  expect(stats.stored).toBeGreaterThanOrEqual(accepted.size);
  expect(stats.metadata).toMatchObject({ messages: stats.stored, distinct: stats.stored, repeated: [] });
});

test('forgets a line that a crash cut short, and goes on after it', async () => {
  const dataDir = newFolder();
  const before = await startSandbox({ dataDir });
  await before.server.sendEmailBatch(batchOf(2));
  await before.close();
  const [segment] = readdirSync(dataDir).filter((name) => name.startsWith('segment-'));
  appendFileSync(join(dataDir, segment ?? ''), '{"t":"m","id":"half","at":1,"m":{"From":"a');

  const after = await startSandbox({ dataDir });
  await after.server.sendEmailBatch(batchOf(2, 2));
  await after.close();
  const last = await startSandbox({ dataDir });
  expect((await last.get('/api/stats?metadata=eid')).json()).toMatchObject({
    accepted: 4,
    stored: 4,
    metadata: { distinct: 4, repeated: [] },
  });
});

test('keeps the newest messages and a bounded folder, while totals go on', async () => {
  const dataDir = newFolder();
  const before = await startSandbox({ dataDir, keep: 100 });
  const sizes: number[] = [];
  for (let i = 0; i < 12; i += 1) {
    await before.server.sendEmailBatch(batchOf(500, i * 500));
    sizes.push(bytesIn(dataDir));
  }
  expect(Math.max(...sizes)).toBeLessThan(5 * (sizes[0] ?? 0));
  const check = async ({ get }: Pick<typeof before, 'get'>) => {
    expect((await get('/api/stats')).json()).toMatchObject({ accepted: 6_000, stored: 100 });
    const token = { 'X-Postmark-Server-Token': 'sandbox' };
    const newest = (await get('/messages/outbound?count=500&offset=0', token)).json();
    expect(newest.TotalCount).toBe(100);
    const eids = newest.Messages.map((one: { Metadata: { eid: string } }) => Number(one.Metadata.eid));
    expect(eids).toEqual(Array.from({ length: 100 }, (_, i) => 5_999 - i));
    expect((await get('/messages/outbound?count=5&offset=0&metadata_eid=5899', token)).json().TotalCount).toBe(0);
    expect((await get('/messages/outbound?count=5&offset=0&metadata_eid=5900', token)).json().TotalCount).toBe(1);
  };
  await check(before);
  await before.close();
  await check(await startSandbox({ dataDir, keep: 100 }));
});

test('bounds what large messages take, whatever their number', async () => {
  const dataDir = newFolder();
  const { server, get } = await startSandbox({ dataDir, keepBytes: 4 << 20 });
  const TextBody = 'x'.repeat(200_000);
  for (let i = 0; i < 5; i += 1) await server.sendEmailBatch(batchOf(20, i * 20, { TextBody }));
  const { stored } = (await get('/api/stats')).json();
  expect(stored).toBeGreaterThan(10);
  expect(stored).toBeLessThanOrEqual(20);
  expect(bytesIn(dataDir)).toBeLessThan(10 << 20);
});

test('deletes all messages for good, but neither totals nor domains', async () => {
  const dataDir = newFolder();
  const before = await startSandbox({ dataDir });
  await before.account.createDomain({ Name: 'acme.test' });
  const [sent] = await before.server.sendEmailBatch(batchOf(5));
  expect((await before.remove('/api/messages')).status).toBe(200);
  expect((await before.get(`/api/messages/${sent?.MessageID}`)).status).toBe(404);
  await before.server.sendEmail(message());
  await before.close();
  const after = await startSandbox({ dataDir });
  expect((await after.get('/api/stats')).json()).toMatchObject({ accepted: 6, stored: 1 });
  expect((await after.account.getDomains()).TotalCount).toBe(1);
});

test('what was planned when the process ended still happens after the next start', async () => {
  const dataDir = newFolder();
  const { url, received } = await startReceiver();
  const before = await startSandbox({ dataDir, webhookUrl: url, delayMs: 60_000 });
  await before.server.sendEmail(message({ To: 'open@example.com' }));
  await before.close();
  expect(received).toHaveLength(0);
  await startSandbox({ dataDir, webhookUrl: url, delayMs: 0 });
  await vi.waitFor(() => expect(received.map((one) => one.body.RecordType)).toEqual(['Delivery', 'Open']), {
    timeout: 600_000,
  });
});

test('works the same in memory, where bounds hold too', async () => {
  const { server, get } = await startSandbox({ dataDir: null, keep: 10 });
  await server.sendEmailBatch(batchOf(500));
  const answers = await server.sendEmailBatch(batchOf(500, 500));
  expect((await get('/api/stats')).json()).toMatchObject({ accepted: 1_000, stored: 10 });
  const details = await server.getOutboundMessageDetails(answers.at(-1)?.MessageID ?? '');
  expect(details).toMatchObject({ Metadata: { eid: '999' }, TextBody: 'Hi Ada' });
});

test('refuses a taken port with the error of the system', async () => {
  const { port } = await startSandbox();
  await expect(startSandbox({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('closes at once although connections are open', async () => {
  const sandbox = await startSandbox();
  const { get } = callsTo(sandbox.url);
  await Promise.all(Array.from({ length: 5 }, () => get('/api/stats')));
  // Connections that wait for another request would last 65 seconds.
  await sandbox.close();
  await expect(get('/api/stats')).rejects.toThrow();
});
