import fc from 'fast-check';
import { parseDocument } from 'htmlparser2';
import { expect, test } from 'vitest';
import { readPostmarkReceived } from '../../../src/domains/providers/postmark/postmark-notification.ts';
import { mostBodyLength, sanitizeHtml, textAsHtml } from '../../../src/domains/providers/received-html.ts';
import { mayBeUnstorable, storable } from '../../../src/domains/providers/ses/ses-notification.ts';

test('the text of a mail keeps its shape, and everything that runs, loads or asks is gone', () => {
  expect(
    sanitizeHtml(
      '<html><head><title>t</title><style>p{}</style></head><body onload="x()"><p class="a" style="color: red; background: url(//x)">' +
        'Hi <b>Bob</b> &amp; co<script>alert(1)</script><br></p><img src="https://acme.test/a.png" onerror="x()" width="10" srcset="y">' +
        '<a href="https://acme.test/?a=1&amp;b=2" target="_blank">go</a></body></html>',
    ),
  ).toBe(
    '<p style="color: red">Hi <b>Bob</b> &amp; co<br /></p><img width="10" src="https://acme.test/a.png" />' +
      '<a href="https://acme.test/?a=1&amp;b=2">go</a>',
  );
  expect(sanitizeHtml('<form action="/x"><input name="p">Pay</form><svg><a href="https://x">y</a></svg>')).toBe('Pay');
  expect(sanitizeHtml('<div><p>open')).toBe('<div><p>open</p></div>');
});

test.each([
  'javascript:alert(1)',
  ' JaVa\tScript:alert(1)',
  'java&#10;script:alert(1)',
  '&#1;javascript:alert(1)',
  'data:text/html;base64,AAAA',
  'vbscript:x',
  '//acme.test/x',
  'cid:logo',
  'file:///etc/passwd',
  'settings?tab=keys',
  'https://acme.test/<!---->',
])('a link to %s is left out', (link) => {
  expect(sanitizeHtml(`<a href="${link}">x</a><img src="${link}">`)).toBe('<a>x</a><img />');
});

test('a link loses what hides its scheme, and is left out with something inside of it', () => {
  expect(sanitizeHtml('<img src="\u0000 https://a.test/b c ">')).toBe('<img src="https://a.test/b c" />');
  expect(sanitizeHtml('<a href="ht\ttps://a.test">x</a>')).toBe('<a>x</a>');
});

test('no input makes an element, an attribute or a scheme that is not on the list', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '"',
    "'",
    '/',
    '=',
    '&lt;',
    '&#x3c;',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    'script',
    '<script>',
    '</script>',
    '<img src=',
    '<a href=',
    'javascript:',
    'https://a.test',
    ' onerror=x ',
    '<style>',
    '</style>',
    '<svg>',
    '<math>',
    '<p>',
    '</p>',
    '<table>',
    '<td>',
    '<noscript>',
    '<textarea>',
    '\u0000',
    ' ',
    'x',
    '<iframe srcdoc="',
    '<template>',
    '<title>',
    '</title>',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const written = sanitizeHtml(pieces.join(''));
      const walk = (nodes: ReturnType<typeof parseDocument>['children']): void => {
        for (const node of nodes) {
          if (!('attribs' in node)) {
            expect(node.type).toBe('text');
            continue;
          }
          expect(['a', 'img', 'p', 'table', 'td']).toContain(node.name);
          for (const [name, value] of Object.entries(node.attribs)) {
            expect(['href', 'src']).toContain(name);
            expect(value).toMatch(/^https?:\/\//);
          }
          walk(node.children);
        }
      };
      walk(parseDocument(written).children);
    }),
    { numRuns: 500 },
  );
});

test('a body is cut where it would be larger than what is kept, and stays well formed', () => {
  const long = sanitizeHtml(`<div>${'<p>word</p>'.repeat(mostBodyLength / 8)}</div>`);
  expect(long.length).toBeLessThanOrEqual(mostBodyLength);
  expect(long.endsWith('</div>')).toBe(true);
  expect(sanitizeHtml(`${'<b>'.repeat(400_000)}${'</i>'.repeat(400_000)}`).length).toBeLessThan(200_000);
  expect(textAsHtml('a < b\r\nc')).toBe('a &#60; b<br>c');
});

// The documented example, with our own names: https://postmarkapp.com/developer/webhooks/inbound-webhook
const inbound = {
  FromName: 'Bob Heron',
  MessageStream: 'inbound',
  From: 'bob@reader.test',
  FromFull: { Email: 'Bob@Reader.test', Name: 'Bob Heron', MailboxHash: '' },
  To: '"Birdwatch" <hello+7@birdwatch.test>',
  ToFull: [{ Email: 'hello+7@birdwatch.test', Name: 'Birdwatch', MailboxHash: '7' }],
  Cc: 'Ann <ann@example.com>',
  CcFull: [{ Email: 'ann@example.com', Name: 'Ann', MailboxHash: '' }],
  Bcc: '',
  BccFull: [],
  OriginalRecipient: 'hello+7@birdwatch.test',
  Subject: 'A heron!',
  MessageID: '22c74902-a0c1-4511-804f-341342852c90',
  ReplyTo: '',
  MailboxHash: '7',
  Date: 'Thu, 5 Apr 2026 16:59:01 +0200',
  TextBody: 'Look up',
  HtmlBody: '<p>Look <i>up</i></p>',
  StrippedTextReply: '',
  Tag: '',
  Headers: [
    { Name: 'X-Spam-Status', Value: 'No' },
    { Name: 'Received-SPF', Value: 'Pass (sender SPF authorized) identity=mailfrom; client-ip=209.85.160.180' },
    { Name: 'Authentication-Results', Value: 'mx.test; dkim=pass header.d=reader.test; dmarc=fail (p=NONE)' },
    { Name: 'Authentication-Results', Value: 'forged; dmarc=pass' },
  ],
  Attachments: [{ Name: 'a.png', Content: 'AAAA', ContentType: 'image/png', ContentLength: 4096 }],
};

test('Postmark’s inbound webhook becomes a received mail', () => {
  const now = new Date('2026-11-01T00:00:00Z');
  expect(readPostmarkReceived(inbound, now)).toEqual({
    key: 'inbound:22c74902-a0c1-4511-804f-341342852c90',
    provider: 'postmark',
    messageId: '22c74902-a0c1-4511-804f-341342852c90',
    from: 'Bob@Reader.test',
    fromHeader: 'Bob Heron <Bob@Reader.test>',
    subject: 'A heron!',
    timestamp: '2026-04-05T14:59:01.000Z',
    received: ['hello+7@birdwatch.test'],
    recipients: ['hello+7@birdwatch.test', 'ann@example.com'],
    hasContent: true,
    body: '<p>Look <i>up</i></p>',
    verdicts: { spamVerdict: 'PASS', spfVerdict: 'PASS', dkimVerdict: 'PASS', dmarcVerdict: 'FAIL' },
    processingTimeMillis: null,
  });
  expect(
    readPostmarkReceived(
      {
        ...inbound,
        OriginalRecipient: '',
        HtmlBody: '',
        Subject: '',
        Date: 'whenever',
        Headers: [{ Name: 'X-Spam-Status', Value: 'Yes' }],
      },
      now,
    ),
  ).toMatchObject({
    received: ['hello+7@birdwatch.test', 'ann@example.com'],
    subject: null,
    body: 'Look up',
    timestamp: '2026-11-01T00:00:00.000Z',
    verdicts: { spamVerdict: 'FAIL' },
  });
  for (const other of [{ RecordType: 'Open' }, { ...inbound, MessageID: '' }, { FromFull: 'bob' }])
    expect(readPostmarkReceived(other, now)).toBeNull();
});

test('JSON that is parsed without a look at each value holds no text that Postgres cannot store', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom(
      '\\u0000',
      '\\uD83E',
      '\\udda2',
      '\\ud83e\\udda2',
      '\\\\u0000',
      '\ud83e',
      '\udda2',
      '🦢',
      '\\n',
      'é',
    ),
  );
  const json = fc.array(piece, { maxLength: 6 }).map((pieces) => `"${pieces.join('')}"`);
  let looked = 0;
  fc.assert(
    fc.property(json, (text) => {
      const needsLook = mayBeUnstorable(text);
      if (needsLook) looked += 1;
      let parsed: unknown;
      try {
        parsed = JSON.parse(text);
      } catch {
        return;
      }
      if (!needsLook) expect(storable(parsed)).toBe(parsed);
    }),
    { numRuns: 500 },
  );
  expect(looked).toBeGreaterThan(0);
  expect(mayBeUnstorable('{"link":"https://acme.test/?a=1\\u0026b=\\u00e9\\\\n🦢"}')).toBe(false);
});
