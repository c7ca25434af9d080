import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ChunkPool, createChunkPool } from '../../src/delivery/chunk-pool.ts';
import type { OutgoingMessage } from '../../src/delivery/mailer.ts';
import { batchBody, exactBytes, mostBytes } from '../../src/delivery/postmark-message.ts';
import { Filled, Literal, type Part } from '../../src/lib/render/filled.ts';
import { aMessage } from '../support/messages.ts';
import { postmarkFields } from '../support/postmark-fields.ts';

const streams = { transactional: 'outbound', broadcast: 'news "and" more' };
const claim = 'run/7/"1"';

const asJson = (messages: readonly OutgoingMessage[]) =>
  JSON.stringify(messages.map((message) => postmarkFields(claim, message, streams)));

// Chunks are the pool's again as soon as the next one is asked for, so each is copied before.
function written(messages: readonly OutgoingMessage[], pool = createChunkPool(4096, 1)): string {
  const body = batchBody(claim, messages, streams, pool);
  const copies: Buffer[] = [];
  for (const chunk of body) copies.push(Buffer.from(chunk));
  const all = Buffer.concat(copies);
  expect(all.length).toBe(body.byteLength);
  return all.toString();
}

const filled = (parts: readonly Part[]) =>
  new Filled(
    parts,
    parts.reduce((sum, part) => sum + (typeof part === 'string' ? part : part.text).length, 0),
  );

const hard = [
  '',
  'Dear Ada',
  'a "quoted" \\ backslash',
  'Łódź, Zürich — “quotes”',
  'herons 🦢🦢 and 👩‍👧',
  'half a pair \ud83e and \udda2 apart',
  '\u0000\u0001\b\t\n\f\r\u001f\u007f\u0080\u009f',
  '\u2028\u2029\ufeff\uffff',
  'é'.repeat(500),
  'x'.repeat(70_000),
];

test('the body is to the letter what JSON.stringify makes of the messages', () => {
  const messages = hard.flatMap((one, n) => [
    aMessage({ subject: one, html: one, text: n % 2 === 0 ? null : one }),
    aMessage({
      from: { address: 'hello@birdwatch.test', name: one },
      to: { address: 'ada@example.com', name: one.slice(0, 200) },
      replyTo: one,
      html: filled([new Literal(`<p title="${one}">`), one, new Literal(one), '</p>']),
      text: filled([new Literal('Dear\n\n'), one]),
      headers: [
        { name: 'X-Order', value: one },
        { name: 'Content-Type', value: 'text/evil' },
      ],
      attachments: [
        { filename: one.slice(0, 99), content: 'QUJD', contentType: 'text/plain', contentId: one.slice(0, 99) },
        { filename: 'b.pdf', content: 'QUJD', contentType: 'application/pdf', contentId: null },
      ],
      tag: n % 2 === 0 ? 'CAMPAIGN' : 'WORKFLOW',
      stream: n % 3 === 0 ? 'broadcast' : 'transactional',
      tracking: n % 2 === 0,
    }),
    aMessage({ headers: [{ name: 'From', value: 'nobody@example.com' }] }),
  ]);
  expect(written(messages)).toBe(asJson(messages));
  for (const message of messages) expect(written([message])).toBe(asJson([message]));
});

test('headers that messages share are written like those that they do not', () => {
  const shared = [
    { name: 'Precedence', value: 'bulk' },
    { name: 'X-Emoji', value: '🦢' },
  ];
  const messages = Array.from({ length: 5 }, (_, n) =>
    aMessage({ headers: n === 3 ? [] : [{ name: 'List-Unsubscribe', value: `<https://mail.test/${n}>` }, ...shared] }),
  );
  expect(written(messages)).toBe(asJson(messages));
});

test('whatever the texts are, the body parses to the messages, and no bound is below its size', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('"', '\\', '\n', '🦢', '\ud83e', '\udda2', 'é', 'a'),
      fc.string({ unit: 'binary', maxLength: 1 }),
    ),
  });
  const parts = fc
    .array(
      fc.oneof(
        text,
        text.map((one) => new Literal(one)),
      ),
      { maxLength: 6 },
    )
    .map(filled);
  fc.assert(
    fc.property(text, text, parts, text, (subject, name, html, value) => {
      const to = { address: 'ada@example.com', name };
      const message = aMessage({ subject, to, html, text: html, headers: [{ name: 'X-A', value }] });
      expect(written([message, message])).toBe(asJson([message, message]));
      const size = Buffer.byteLength(JSON.stringify(postmarkFields(claim, message, streams)));
      expect(exactBytes(claim, message, streams)).toBe(size);
      expect(mostBytes(message)).toBeGreaterThanOrEqual(size);
    }),
  );
});

test('a body of many chunks, and messages larger than one, lose nothing', () => {
  const messages = Array.from({ length: 400 }, (_, n) =>
    aMessage({ html: `<p>${n}</p>${'—'.repeat(n % 50 === 7 ? 60_000 : n)}` }),
  );
  expect(written(messages, createChunkPool(64 * 1024, 4))).toBe(asJson(messages));
});

test('a chunk is used again only after the reader has asked for the next one', () => {
  const given: Buffer[] = [];
  const inner = createChunkPool(256 * 1024, 8);
  const pool: ChunkPool = { ...inner, give: (chunk) => void given.push(chunk) };
  const messages = Array.from({ length: 40 }, () => aMessage({ html: 'x'.repeat(20_000) }));
  const reader = batchBody(claim, messages, streams, pool)[Symbol.iterator]();
  const [first] = [reader.next().value as Uint8Array];
  expect(given).toEqual([]);
  const second = reader.next().value as Uint8Array;
  expect(given.map(({ buffer }) => buffer)).toEqual([first.buffer]);
  expect(second.buffer).not.toBe(first.buffer);
  // Whoever stops reading may still be writing what came last.
  reader.return?.();
  expect(given).toHaveLength(1);
});

test('what is too little for a socket to tell when it has left goes out as a copy', () => {
  const given: Buffer[] = [];
  const pool: ChunkPool = { ...createChunkPool(256 * 1024, 8), give: (chunk) => void given.push(chunk) };
  const [only, ...rest] = [...batchBody(claim, [aMessage()], streams, pool)];
  expect(rest).toEqual([]);
  expect(given).toHaveLength(1);
  expect(given[0]?.buffer).not.toBe(only?.buffer);
});
