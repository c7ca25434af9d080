import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SubmissionServer } from '../../../src/mail/smtp/server.ts';
import { type TestHandler, testHandler } from './handler.ts';

let handler: TestHandler;
let server: SubmissionServer<string>;
let openPort: number;
const sockets: Socket[] = [];

const options = {
  name: 'mail.acme.example',
  banner: 'Acme',
  tls: null,
  secure: false,
  connections: 10,
  waiting: 3,
  perAccount: 4,
  messageBytes: 2_000,
  recipients: 2,
  graceMs: 2_000,
};

beforeEach(async () => {
  handler = testHandler();
  server = new SubmissionServer(handler, options);
  openPort = await server.listen(0, '127.0.0.1');
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.stop();
});

/** A client that says lines and hears the last line of each reply. */
async function client(port = openPort) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  let heard = '';
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
  });
  const reply = () =>
    expect
      .poll(() => /^(\d{3} .*)\r\n/m.exec(heard)?.[1])
      .toBeDefined()
      .then(() => {
        const [, line = ''] = /^(\d{3} .*)\r\n/m.exec(heard) ?? [];
        const whole = heard;
        heard = '';
        return { line, whole };
      });
  const say = (text: string) => {
    socket.write(`${text}\r\n`);
    return reply();
  };
  const greeting = await reply();
  return { say, reply, greeting: greeting.line, close: () => socket.destroy() };
}

const plain = (username: string, password: string) =>
  `AUTH PLAIN ${Buffer.from(`\0${username}\0${password}`).toString('base64')}`;
async function signedIn() {
  const { say, reply, close } = await client();
  await say('EHLO client.test');
  expect((await say(plain('ada', 'secret'))).line).toMatch(/^235 /);
  return { say, reply, close };
}

test('whoever signs in hands over a message with its envelope', async () => {
  const { say } = await signedIn();
  await say('MAIL FROM:<shop@acme.example>');
  expect((await say('RCPT TO:<Grace@Example.com>')).line).toMatch(/^250 /);
  expect((await say('DATA')).line).toMatch(/^354 /);
  expect((await say('Subject: Hi\r\n\r\n..dots\r\n.')).line).toBe('250 2.0.0 Queued message-1');
  const [{ raw, ...envelope } = { raw: Buffer.alloc(0) }] = handler.taken;
  expect(envelope).toEqual({ owner: 'ada', mailFrom: 'shop@acme.example', recipients: ['grace@example.com'] });
  expect(raw.toString()).toBe('Subject: Hi\r\n\r\n.dots\r\n');
  expect(handler.events.map(({ kind }) => kind)).toEqual(['signed-in', 'accepted']);
});

describe('is refused', () => {
  test('a message of nobody, and a wrong password, with the user name that was tried', async () => {
    const { say } = await client();
    const { whole } = await say('EHLO client.test');
    expect([whole.includes('AUTH PLAIN LOGIN'), whole.includes('STARTTLS')]).toEqual([true, false]);
    expect((await say('MAIL FROM:<shop@acme.example>')).line).toMatch(/^530 /);
    expect((await say(plain('ada', 'guess'))).line).toBe('535 5.7.8 Wrong password');
    expect(handler.events).toMatchObject([{ kind: 'refused', username: 'ada', owner: null }]);
  });

  test('a recipient that is no address, alone, and one too many', async () => {
    const { say } = await signedIn();
    await say('MAIL FROM:<shop@acme.example>');
    expect((await say('RCPT TO:<ada@elsewhere.example>')).line).toMatch(/^553 5\.1\.3 /);
    expect((await say('RCPT TO:<a@example.com>')).line).toMatch(/^250 /);
    expect((await say('RCPT TO:<b@example.com>')).line).toMatch(/^250 /);
    expect((await say('RCPT TO:<c@example.com>')).line).toMatch(/^452 /);
  });

  test('a message that is too large, while the connection goes on', async () => {
    const { say } = await signedIn();
    const hand = async (text: string) => {
      await say('MAIL FROM:<shop@acme.example>');
      await say('RCPT TO:<a@example.com>');
      await say('DATA');
      return (await say(`${text}\r\n.`)).line;
    };
    expect(await hand('x'.repeat(3_000))).toMatch(/^552 /);
    expect(await hand('x')).toMatch(/^250 /);
  });

  test('a message of credentials that have ended since', async () => {
    const { say } = await signedIn();
    handler.passwords = {};
    await say('MAIL FROM:<shop@acme.example>');
    await say('RCPT TO:<a@example.com>');
    await say('DATA');
    expect((await say('x\r\n.')).line).toMatch(/^535 /);
    expect(handler.taken).toEqual([]);
  });
});

describe('connections without a sign-in', () => {
  test('of one network are few, and each that signs in or closes makes room for another', async () => {
    const [first, second] = [await client(), await client(), await client()];
    expect((await client()).greeting).toBe('421 4.7.0 Too many connections of your network have not signed in');
    await first.say('EHLO client.test');
    expect((await first.say(plain('ada', 'secret'))).line).toMatch(/^235 /);
    expect((await client()).greeting).toMatch(/^220 /);
    expect((await client()).greeting).toMatch(/^421 /);
    second.close();
    await expect.poll(async () => (await client()).greeting).toMatch(/^220 /);
    // Whoever has signed in is not in the way of others, and stays.
    expect((await first.say('NOOP')).line).toMatch(/^250 /);
  });

  test('of one account leave places for others, and each that closes makes room for another', async () => {
    handler.passwords.grace = 'secret';
    const open = [await signedIn(), await signedIn(), await signedIn(), await signedIn()];
    const { say } = await client();
    await say('EHLO client.test');
    expect((await say(plain('ada', 'secret'))).line).toMatch(/^454 4\.7\.0 /);
    const other = await client();
    await other.say('EHLO client.test');
    expect((await other.say(plain('grace', 'secret'))).line).toMatch(/^235 /);
    open[0]?.close();
    await expect.poll(async () => (await say(plain('ada', 'secret'))).line).toMatch(/^235 /);
  });

  test('are ended after a while', async () => {
    const hasty = new SubmissionServer(handler, { ...options, signInMs: 200 });
    const { reply } = await client(await hasty.listen(0, '127.0.0.1'));
    expect((await reply()).line).toMatch(/^421 4\.4\.2 /);
    await hasty.stop();
  });
});

test('a server that stops sends clients away that are idle', async () => {
  const { reply } = await signedIn();
  expect(server.connections).toBe(1);
  const stopped = server.stop();
  expect((await reply()).line).toMatch(/^421 4\.3\.2 /);
  await stopped;
});
