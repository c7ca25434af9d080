import { readFileSync } from 'node:fs';
import { Models, type ServerClient } from 'postmark';
import { expect, test, vi } from 'vitest';
import { message, startSandbox } from './support.ts';

function find(server: ServerClient, filter: Record<string, unknown>, count = 500, offset = 0) {
  return server.getOutboundMessages(
    Object.assign(new Models.OutboundMessagesFilteringParameters(count, offset), filter),
  );
}

test('finds the messages of one claim, and the one message of an email id', async () => {
  const { server } = await startSandbox();
  for (const claim of ['claim-1', 'claim-2']) {
    await server.sendEmailBatch(
      Array.from({ length: 20 }, (_, i) =>
        message({ To: `p${i}@example.com`, Metadata: { claim, eid: `${claim}/${i}`, pid: 'project' } }),
      ),
    );
  }
  const claim = await find(server, { metadata_claim: 'claim-2' });
  expect(claim.TotalCount).toBe(20);
  expect(new Set(claim.Messages.map((one) => one.Metadata.eid)).size).toBe(20);
  expect(claim.Messages.every((one) => one.Metadata.claim === 'claim-2')).toBe(true);

  const one = await find(server, { metadata_eid: 'claim-1/7' }, 1);
  expect(one).toMatchObject({ TotalCount: 1, Messages: [{ Recipients: ['p7@example.com'], Status: 'Sent' }] });
  expect(await find(server, { metadata_eid: 'claim-1/20' })).toEqual({ TotalCount: 0, Messages: [] });
  expect((await find(server, { metadata_pid: 'project', metadata_claim: 'claim-1' })).TotalCount).toBe(20);
});

test('finds a recipient whatever the letter case, as a plain call with a token', async () => {
  const { server, get } = await startSandbox();
  await server.sendEmail(message({ To: 'Ada Lovelace <Ada@Example.com>', Subject: 'Hello Ada' }));
  await server.sendEmail(message({ To: 'adam@example.com', Subject: 'Hello Adam' }));
  const path = '/messages/outbound?count=50&offset=0&recipient=ada@example.com';
  const found = await get(path, { 'X-Postmark-Server-Token': 'sandbox' });
  expect(found.json()).toMatchObject({ TotalCount: 1, Messages: [{ Subject: 'Hello Ada' }] });
  expect((await get(path)).status).toBe(401);
});

test('filters by sender, subject, tag, stream, status and dates, newest first, in pages', async () => {
  const { server } = await startSandbox();
  for (let i = 0; i < 5; i += 1) {
    await server.sendEmail(message({ Subject: `Invoice ${i}`, Tag: 'billing', MessageStream: 'broadcast' }));
  }
  await server.sendEmail(message({ From: 'Other <other@acme.test>', Subject: 'Receipt' }));
  const subjects = async (filter: Record<string, unknown>, count = 500, offset = 0) =>
    (await find(server, filter, count, offset)).Messages.map((one) => one.Subject);
  const invoices = ['Invoice 4', 'Invoice 3', 'Invoice 2', 'Invoice 1', 'Invoice 0'];
  expect(await subjects({ subject: 'iNVOICE' })).toEqual(invoices);
  expect(await subjects({ tag: 'billing' }, 2, 1)).toEqual(['Invoice 3', 'Invoice 2']);
  expect(await subjects({ fromEmail: 'OTHER@acme.test' })).toEqual(['Receipt']);
  expect(await subjects({ messageStream: 'broadcast', status: 'sent' })).toEqual(invoices);
  expect(await subjects({ status: 'queued' })).toEqual([]);
  const today = new Date().toISOString().slice(0, 10);
  expect(await subjects({ fromDate: today, toDate: today })).toHaveLength(6);
  expect(await subjects({ toDate: '2020-01-01' })).toEqual([]);
});

test.each([
  ['count=501&offset=0'],
  ['count=50'],
  ['offset=0'],
  ['count=500&offset=9999'],
  ['count=1&offset=0&fromdate=tomorrow'],
])('refuses the search %s', async (query) => {
  const { get } = await startSandbox();
  const answer = await get(`/messages/outbound?${query}`, { 'X-Postmark-Server-Token': 'sandbox' });
  expect([answer.status, answer.json().ErrorCode]).toEqual([422, 700]);
});

test('gives the details, events and source of a message', async () => {
  const { server } = await startSandbox();
  const html = readFileSync(new URL('../../../test/data/templates/receipt.html', import.meta.url), 'utf8');
  const { MessageID } = await server.sendEmail(
    message({
      To: '千代 <click@example.com>',
      HtmlBody: html,
      TextBody: 'Grüße = €',
      Tag: 'TRANSACTIONAL',
      Metadata: { eid: 'e1' },
      TrackOpens: true,
      Headers: [{ Name: 'List-Unsubscribe', Value: '<https://acme.test/u>' }],
      Attachments: [
        { Name: 'Rechnung.pdf', Content: 'JVBERi0=', ContentType: 'application/pdf', ContentID: null },
        { Name: 'logo.png', Content: 'iVBORw0K', ContentType: 'image/png', ContentID: 'cid:logo' },
      ],
    }),
  );
  const details = await vi.waitFor(async () => {
    const found = await server.getOutboundMessageDetails(MessageID);
    expect(found.MessageEvents.length).toBeGreaterThanOrEqual(2);
    return found;
  }, 120_000);
  expect(details).toMatchObject({
    MessageID,
    HtmlBody: html,
    TextBody: 'Grüße = €',
    To: [{ Email: 'click@example.com', Name: '千代' }],
    Cc: [],
    Tag: 'TRANSACTIONAL',
    Metadata: { eid: 'e1' },
    MessageStream: 'outbound',
    TrackOpens: true,
    TrackLinks: 'None',
    Attachments: ['Rechnung.pdf', 'logo.png'],
    Status: 'Sent',
  });
  expect(details.MessageEvents.slice(0, 2).map((event) => event.Type)).toEqual(['Delivered', 'Opened']);
  const { Body } = await server.getOutboundMessageDump(MessageID);
  expect(Body).toBe(details.Body);
  expect(Body).toContain('From: "Acme, Inc." <hello@acme.test>\r\nTo: =?UTF-8?B?5Y2D5Luj?= <click@example.com>\r\n');
  expect(Body).toContain('List-Unsubscribe: <https://acme.test/u>\r\n');
  expect(Body).toContain('Gr=C3=BC=C3=9Fe =3D =E2=82=AC\r\n');
  expect(Body).toContain('Content-ID: <logo>\r\n');
  await expect(server.getOutboundMessageDetails('nope')).rejects.toMatchObject({ statusCode: 422, code: 701 });
});
