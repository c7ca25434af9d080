import { readFileSync } from 'node:fs';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { readMessage } from '../../../src/mail/smtp/message.ts';
import { SubmissionServer } from '../../../src/mail/smtp/server.ts';
import { SmtpReply } from '../../../src/mail/smtp/waiting-room.ts';

test('the example of the README takes mail', async () => {
  const readme = readFileSync(new URL('../../../src/mail/smtp/README.md', import.meta.url), 'utf8');
  const [, code = ''] =
    /```ts\nimport \{ readMessage \} from [^;]+;\nimport \{ SmtpReply \} from [^;]+;\nimport \{ SubmissionServer \} from [^;]+;\n(.*?)```/s.exec(
      readme,
    ) ?? [];
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const run = new AsyncFunction('readMessage', 'SmtpReply', 'SubmissionServer', `${code}; return { server, port };`);
  const { server, port } = (await run(readMessage, SmtpReply, SubmissionServer)) as {
    server: SubmissionServer<string>;
    port: number;
  };
  const hand = (pass: string) =>
    createTransport({ host: '127.0.0.1', port, ignoreTLS: true, auth: { user: 'ada', pass } }).sendMail({
      from: 'shop@acme.example',
      to: 'Grace@example.com',
      subject: 'Hi',
      text: 'Hello',
    });
  try {
    expect((await hand('secret')).response).toBe('250 2.0.0 Queued "Hi" of ada for grace@example.com');
    await expect(hand('guess')).rejects.toMatchObject({ responseCode: 535 });
  } finally {
    await server.stop();
  }
});
