import { Filled, type FilledPart, Literal } from '@fernpost/renderer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OutgoingMessage } from '../../../src/domains/providers/mailer.ts';
import {
  type ChunkPool,
  createChunkPool,
  type OutgoingBytes,
  PostmarkBatch,
} from '../../../src/domains/providers/postmark/postmark-batch.ts';
import { mostBytes } from '../../../src/domains/providers/postmark/postmark-message.ts';
import { aMessage } from './messages.ts';
import { postmarkFields } from './postmark-fields.ts';

const streams = { transactional: 'outbound', broadcast: 'news "and" more' };
const claim = 'run/7/"1"';

const asJson = (messages: readonly OutgoingMessage[]) =>
  JSON.stringify(messages.map((message) => postmarkFields(claim, message, streams)));

function batchOf(messages: readonly OutgoingMessage[], pool: ChunkPool): PostmarkBatch {
  const batch = new PostmarkBatch(claim, streams, pool);
  for (const message of messages) batch.add(message);
  batch.end();
  return batch;
}

function textOf(bytes: OutgoingBytes): string {
  const all = Buffer.concat([...bytes]);
  expect(all.length).toBe(bytes.byteLength);
  return all.toString();
}

const written = (messages: readonly OutgoingMessage[], pool = createChunkPool(4096, 1)) =>
  textOf(batchOf(messages, pool).whole());

const filled = (parts: readonly FilledPart[]) =>
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
      expect(new PostmarkBatch(claim, streams, createChunkPool(4096, 1)).add(message)).toBe(size);
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

test('each run of messages can be sent as a list of its own', () => {
  const messages = Array.from({ length: 30 }, (_, n) =>
    aMessage({ html: `${n}`.repeat(n % 7 === 3 ? 40_000 : 2_000) }),
  );
  const batch = batchOf(messages, createChunkPool(64 * 1024, 4));
  for (const [from, to] of [
    [0, 30],
    [0, 1],
    [29, 30],
    [7, 23],
    [3, 4],
  ] as const)
    expect(textOf(batch.part(from, to))).toBe(asJson(messages.slice(from, to)));
});

test('a message that is taken back, or cannot be written, leaves nothing behind', () => {
  const [one, other, third] = [aMessage(), aMessage({ html: 'x'.repeat(60_000) }), aMessage()];
  const broken = aMessage({ headers: [{ name: 'X-A', value: null as unknown as string }] });
  const batch = new PostmarkBatch(claim, streams, createChunkPool(64 * 1024, 4));
  batch.add(other);
  batch.undo();
  expect(() => batch.add(broken)).toThrow();
  batch.add(one);
  batch.add(other);
  batch.undo();
  expect(() => batch.add(broken)).toThrow();
  batch.add(third);
  expect(batch.count).toBe(2);
  batch.end();
  expect(textOf(batch.whole())).toBe(asJson([one, third]));
});

function watchedPool() {
  const given: Buffer[] = [];
  const pool: ChunkPool = { ...createChunkPool(256 * 1024, 8), give: (chunk) => void given.push(chunk) };
  return { pool, given: () => given.filter((chunk) => chunk.length > 0).map(({ buffer }) => buffer) };
}

test('the chunks of a body are used again once it has been read to its end and nobody needs it, and not before', () => {
  const messages = Array.from({ length: 40 }, () => aMessage({ html: 'x'.repeat(20_000) }));
  const { pool, given } = watchedPool();
  const batch = batchOf(messages, pool);
  const reader = batch.whole()[Symbol.iterator]();
  const read: Uint8Array[] = [];
  for (let n = 0; n < 3; n += 1) read.push(reader.next().value as Uint8Array);
  // Whoever stops reading may still be writing what came last.
  batch.release();
  expect(given()).toEqual([]);
  for (let next = reader.next(); !next.done; next = reader.next()) read.push(next.value);
  expect(given()).toEqual([]);
  batch.release();
  expect(given()).toEqual(read.map(({ buffer }) => buffer));
  batch.release();
  expect(given()).toHaveLength(read.length);
});

test('what is too little for a socket to tell when it has left goes out as a copy', () => {
  const { pool, given } = watchedPool();
  const [only, ...rest] = [...batchOf([aMessage()], pool).whole()];
  expect(rest).toEqual([]);
  expect(given()).toHaveLength(1);
  expect(given()[0]).not.toBe(only?.buffer);
});

test('a message that has only a text says nothing of HTML', () => {
  const [fields] = JSON.parse(written([aMessage({ html: '', text: 'Backup done' })])) as Record<string, unknown>[];
  expect(fields).toMatchObject({ TextBody: 'Backup done' });
  expect(fields).not.toHaveProperty('HtmlBody');
});
