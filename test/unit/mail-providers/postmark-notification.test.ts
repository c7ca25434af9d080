import { expect, test } from 'vitest';
import { parsePostmark, readPostmarkRecord } from '../../../src/domains/providers/postmark/postmark-notification.ts';

const readPostmarkNotification = (body: string) => readPostmarkRecord(parsePostmark(body));
const eid = '0198c0de-0000-7000-8000-000000000001';
const pid = '0198c0de-0000-7000-8000-000000000002';
const common = {
  MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
  MessageStream: 'outbound',
  ServerID: 1,
  Tag: 'TRANSACTIONAL',
  Metadata: { eid, pid, claim: 'x' },
};
const read = (payload: object) => readPostmarkNotification(JSON.stringify({ ...common, ...payload }));
const bounce = (payload: object) =>
  read({ RecordType: 'Bounce', ID: 42, Email: 'Bob@Example.com', BouncedAt: '2026-03-01T10:00:00Z', ...payload });

test('each record names our mail, its time in UTC and a key of its own', () => {
  expect(
    read({ RecordType: 'Delivery', Recipient: 'Bob@Example.com', DeliveredAt: '2026-03-01T05:00:00.0000000-05:00' }),
  ).toEqual({
    key: `delivery:${common.MessageID}:Bob@Example.com`,
    emailId: eid,
    projectId: pid,
    messageId: common.MessageID,
    recipient: 'bob@example.com',
    at: '2026-03-01T10:00:00.000Z',
    effect: { kind: 'delivery' },
  });
  expect(read({ RecordType: 'Open', Recipient: 'b@example.com', ReceivedAt: '2026-03-01T10:00:00Z' })).toMatchObject({
    key: `open:${common.MessageID}:2026-03-01T10:00:00Z`,
    effect: { kind: 'open' },
  });
  const clicks = ['https://acme.test/a', 'https://acme.test/b'].map((OriginalLink) =>
    read({ RecordType: 'Click', ReceivedAt: '2026-03-01T10:00:00Z', OriginalLink }),
  );
  expect(clicks[0]).toMatchObject({ effect: { kind: 'click', link: 'https://acme.test/a' } });
  expect(clicks[0]?.key).not.toBe(clicks[1]?.key);
  expect(read({ RecordType: 'SpamComplaint', ID: 7, BouncedAt: '2026-03-01T10:00:00Z' })).toMatchObject({
    key: 'complaint:7',
    effect: { kind: 'complaint' },
  });
});

const transient = [
  'Transient',
  'SoftBounce',
  'DnsError',
  'AutoResponder',
  'AddressChange',
  'SpamNotification',
  'VirusNotification',
  'Blocked',
  'SMTPApiError',
  'InboundError',
  'DMARCPolicy',
  'SomethingNew',
];
test.each([
  { Type: 'HardBounce', Inactive: false, bounceType: 'Permanent' },
  { Type: 'BadEmailAddress', Inactive: false, bounceType: 'Permanent' },
  { Type: 'SoftBounce', Inactive: true, bounceType: 'Permanent' },
  { Type: 'Unknown', Inactive: false, bounceType: 'Undetermined' },
  ...transient.map((Type) => ({ Type, Inactive: false, bounceType: 'Transient' })),
])('a bounce of type $Type, inactive $Inactive, is $bounceType', ({ Type, Inactive, bounceType }) => {
  expect(bounce({ Type, Inactive })?.effect).toMatchObject({ kind: 'bounce', bounceType });
});

test('a bounce that is none: complaint, unsubscribe, subscribe', () => {
  expect(bounce({ Type: 'SpamComplaint', Inactive: true })).toMatchObject({
    key: 'complaint:42',
    effect: { kind: 'complaint' },
  });
  expect(bounce({ Type: 'Unsubscribe' })?.effect).toEqual({ kind: 'optOut', own: true });
  expect(bounce({ Type: 'Subscribe' })).toBeNull();
});

test('a bounce id beyond the safe integers keeps every digit; without one the key comes from the mail', () => {
  const raw = `{"RecordType":"Bounce","ID":4323372036854775807,"Type":"HardBounce","MessageID":"m","BouncedAt":"2026-03-01T10:00:00Z"}`;
  expect(readPostmarkNotification(raw)?.key).toBe('bounce:4323372036854775807');
  expect(readPostmarkNotification(raw.replace('5807', '5808'))?.key).toBe('bounce:4323372036854775808');
  expect(bounce({ ID: undefined, Type: 'HardBounce' })?.key).toBe(
    `bounce:${common.MessageID}:2026-03-01T10:00:00Z:HardBounce`,
  );
});

test('what the receiving server said is kept', () => {
  expect(bounce({ Type: 'HardBounce', Description: 'Unknown user', Details: 'smtp;550 5.1.1' })?.effect).toMatchObject({
    error: 'Unknown user — smtp;550 5.1.1',
  });
  expect(bounce({ Type: 'HardBounce' })?.effect).toMatchObject({ error: null });
});

test.each([
  [
    { SuppressSending: true, SuppressionReason: 'HardBounce', Origin: 'Recipient' },
    { own: false, reason: 'bounce' },
  ],
  [
    { SuppressSending: true, SuppressionReason: 'SpamComplaint', Origin: 'Recipient' },
    { own: false, reason: 'complaint' },
  ],
  [{ SuppressSending: true, SuppressionReason: 'ManualSuppression', Origin: 'Recipient' }, { own: true }],
  [{ SuppressSending: true, SuppressionReason: 'ManualSuppression', Origin: 'Customer' }, null],
  [{ SuppressSending: true, SuppressionReason: 'ManualSuppression', Origin: 'Admin' }, null],
  [{ SuppressSending: false, SuppressionReason: null, Origin: 'Recipient' }, null],
  [
    { SuppressSending: true, SuppressionReason: 'HardBounce', Origin: 'Recipient', MessageID: null, Metadata: {} },
    null,
  ],
])('a change of subscription %o opts out as %o', (change, expected) => {
  const payload = {
    RecordType: 'SubscriptionChange',
    Recipient: 'b@example.com',
    ChangedAt: '2026-03-01T10:00:00Z',
    ...change,
  };
  const effect = read(payload)?.effect ?? null;
  expect(effect).toEqual(expected && { kind: 'optOut', ...expected });
});

test('records about nobody are ignored, foreign metadata is no id of ours, and nonsense is refused', () => {
  expect(read({ RecordType: 'SomethingNew' })).toBeNull();
  expect(read({ FromFull: { Email: 'a@example.com' }, MailboxHash: '' })).toBeNull();
  expect(readPostmarkNotification('{}')).toBeNull();
  const foreign = { RecordType: 'Delivery', Recipient: 'b@example.com', DeliveredAt: 'never' };
  for (const Metadata of [null, {}, { eid: 7 }, { eid: 'order-7', pid: '1' }, 'text', undefined])
    expect(read({ ...foreign, Metadata })).toMatchObject({
      emailId: null,
      projectId: null,
      effect: { kind: 'delivery' },
    });
  for (const nonsense of ['', 'hello', '[]', '"text"', 'null'])
    expect(() => readPostmarkNotification(nonsense)).toThrow(SyntaxError);
});
