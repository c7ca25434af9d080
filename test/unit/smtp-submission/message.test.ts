import { expect, test } from 'vitest';
import { readMessage } from '../../../src/mail/smtp/message.ts';

const read = (...lines: string[]) => readMessage(Buffer.from(lines.join('\r\n')), ['x-acme-', 'x-earlier-']);

test('headers for the server are told from those that are passed on', async () => {
  const message = await read(
    'From: Shop <shop@acme.example>',
    'To: Grace <grace@example.com>',
    'Reply-To: Help <help@acme.example>',
    'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
    'Message-ID: <1@acme.example>',
    'X-Acme-Tag: a=1',
    'X-Acme-Tag: b=2',
    'X-Campaign: spring',
    'Received: from elsewhere',
    '',
    'Hi',
  );
  expect(message).toMatchObject({
    from: { address: 'shop@acme.example', name: 'Shop' },
    replyTo: 'help@acme.example',
    subject: 'Grüße',
    html: '',
    text: expect.stringMatching(/^Hi/),
    messageId: '<1@acme.example>',
  });
  expect([...message.directives]).toEqual([['tag', ['a=1', 'b=2']]]);
  expect(message.names.get('grace@example.com')).toBe('Grace');
  expect(message.headers).toMatchObject({ 'X-Campaign': 'spring' });
  expect(Object.keys(message.headers).filter((name) => /acme|received/i.test(name))).toEqual([]);
});

test('a header for the server under its earlier name counts where there is none of the current name', async () => {
  const earlier = ['From: shop@acme.example', 'X-Earlier-Tag: a=1', 'X-Earlier-Type: NEWS'];
  const message = await read(...earlier, 'X-Acme-Tag: b=2', '', 'Hi');
  expect(Object.fromEntries(message.directives)).toEqual({ tag: ['b=2'], type: ['NEWS'] });
  expect(Object.keys(message.headers).filter((name) => /earlier|acme/i.test(name))).toEqual([]);
});

test('files come in Base64, those that the HTML shows as inline', async () => {
  const message = await read(
    'From: shop@acme.example',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/html',
    '',
    '<img src="cid:logo">',
    '--b',
    'Content-Type: image/png',
    'Content-Disposition: inline',
    'Content-ID: <logo>',
    'Content-Transfer-Encoding: base64',
    '',
    'AQID',
    '--b',
    'Content-Type: application/pdf',
    'Content-Disposition: attachment',
    '',
    'x',
    '--b--',
  );
  expect(message.attachments).toEqual([
    expect.objectContaining({ content: 'AQID', disposition: 'inline', contentId: 'logo', contentType: 'image/png' }),
    expect.objectContaining({ filename: 'attachment-2', disposition: 'attachment', contentType: 'application/pdf' }),
  ]);
  expect(message.text).toBeNull();
});
