import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aSentMail, type SentMail } from '../../support/sent-mail.ts';

let store: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  store = await testDatabase();
  api = await testApi(store, { POSTMARK_WEBHOOK_TOKEN: 'battery-staple' });
});
afterAll(async () => {
  await api?.close();
  await store?.close();
});

// The records as https://postmarkapp.com/developer/webhooks shows them, with every field that it names.
const client = {
  Client: { Name: 'Chrome 35.0.1916.153', Company: 'Google', Family: 'Chrome' },
  OS: { Name: 'OS X 10.7 Lion', Company: 'Apple Computer, Inc.', Family: 'OS X 10' },
  Platform: 'WebMail',
  UserAgent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_7_5) AppleWebKit/537.36',
  Geo: { CountryISOCode: 'RS', Country: 'Serbia', RegionISOCode: 'VO', Region: 'Vojvodina', City: 'Novi Sad' },
};
const at = '2026-11-05T16:33:54.9070259Z';
const common = (mail: SentMail) => ({
  MessageID: mail.messageId,
  MessageStream: 'outbound',
  ServerID: 23,
  Tag: 'TRANSACTIONAL',
  Metadata: { eid: mail.id, pid: mail.project.id, claim: 'run/1/1.1' },
});
const bounce = (mail: SentMail, id: string, type: object) =>
  JSON.stringify({
    RecordType: 'Bounce',
    ...common(mail),
    Description: 'The server was unable to deliver your message (ex: unknown user, mailbox not found).',
    Details: 'smtp;550 5.1.1 The email account that you tried to reach does not exist.',
    Email: mail.email,
    From: mail.project.sender,
    BouncedAt: at,
    DumpAvailable: true,
    CanActivate: true,
    Subject: 'A heron',
    Content: '<Full dump of bounce>',
    ...type,
  }).replace('{', `{"ID":${id},`);
const records: Record<string, (mail: SentMail) => string> = {
  Delivery: (mail) =>
    JSON.stringify({
      RecordType: 'Delivery',
      ...common(mail),
      Recipient: mail.email,
      DeliveredAt: at,
      Details: '250 OK',
    }),
  Open: (mail) =>
    JSON.stringify({
      RecordType: 'Open',
      ...common(mail),
      FirstOpen: true,
      ...client,
      ReceivedAt: at,
      Recipient: mail.email,
    }),
  Click: (mail) =>
    JSON.stringify({
      RecordType: 'Click',
      ...common(mail),
      ClickLocation: 'HTML',
      ...client,
      OriginalLink: 'https://example.com/?a=1&b=%20',
      ReceivedAt: at,
      Recipient: mail.email,
    }),
  HardBounce: (mail) =>
    bounce(mail, '4323372036854775807', { Type: 'HardBounce', TypeCode: 1, Name: 'Hard bounce', Inactive: true }),
  SoftBounce: (mail) =>
    bounce(mail, '4323372036854775806', { Type: 'SoftBounce', TypeCode: 4096, Name: 'Soft bounce', Inactive: false }),
  SpamComplaint: (mail) =>
    bounce(mail, '692560174', {
      RecordType: 'SpamComplaint',
      Type: 'SpamComplaint',
      TypeCode: 100001,
      Name: 'Spam complaint',
      Inactive: true,
    }),
  SubscriptionChange: (mail) =>
    JSON.stringify({
      RecordType: 'SubscriptionChange',
      ...common(mail),
      ChangedAt: '2026-11-05T16:33:54.416071Z',
      Recipient: mail.email,
      Origin: 'Recipient',
      SuppressSending: true,
      SuppressionReason: 'ManualSuppression',
    }),
};

test.each<[string, Record<string, unknown>, string[]]>([
  ['Delivery', { status: 'DELIVERED', subscribed: true }, ['email.delivery']],
  ['Open', { status: 'OPENED', opens: 1 }, ['email.open']],
  ['Click', { status: 'CLICKED', clicks: 1 }, ['email.click']],
  ['HardBounce', { status: 'BOUNCED', subscribed: false }, ['contact.unsubscribed', 'email.bounce']],
  ['SoftBounce', { status: 'SENT', subscribed: true }, ['email.bounce']],
  ['SpamComplaint', { status: 'COMPLAINED', subscribed: false }, ['contact.unsubscribed', 'email.complaint']],
  ['SubscriptionChange', { status: 'SENT', subscribed: false }, ['contact.unsubscribed']],
])('Postmark’s documented %s record does what it says, and a replay of it nothing', async (name, row, told) => {
  const mail = await aSentMail(store.db);
  const body = records[name]?.(mail) ?? '';
  const post = () => api.call(null, 'POST', '/webhooks/postmark/battery-staple', body);
  expect(await post()).toMatchObject({ status: 200, body: { success: true } });
  expect(await post()).toMatchObject({ status: 200, body: { success: true, duplicate: true } });
  const seen = await store.db.row(
    `select e.status, e.opens, e.clicks, c.subscribed from emails e join contacts c on c.id = e.contact_id where e.id = $1`,
    [mail.id],
  );
  expect(seen).toMatchObject(row);
  const events = await store.db.rows<{ name: string }>('select name from events where contact_id = $1 order by id', [
    mail.contactId,
  ]);
  expect(events.map((event) => event.name)).toEqual(told);
});

test('bounces whose ids differ only beyond the safe integers are two bounces', async () => {
  const mail = await aSentMail(store.db);
  for (const id of ['9007199254740993', '9007199254740992']) {
    const body = bounce(mail, id, { Type: 'SoftBounce', TypeCode: 4096, Inactive: false });
    expect((await api.call(null, 'POST', '/webhooks/postmark/battery-staple', body)).body).toEqual({ success: true });
  }
});
