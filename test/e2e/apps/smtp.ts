import assert from 'node:assert/strict';
import { createTransport } from 'nodemailer';
import { address, fernpost, inbox, secretKey, until } from './app.ts';

// Send from a program that speaks SMTP, and look the mail up like any other.
const transport = createTransport({
  host: '127.0.0.1',
  port: Number(process.env.SMTP_PORT ?? 2525),
  auth: { user: 'fernpost', pass: secretKey },
});
const to = address('ada');
const { response } = await transport.sendMail({
  from: 'Acme <hello@fernpost.test>',
  to,
  subject: 'By SMTP',
  text: 'The backup is done.',
  headers: { 'X-Fernpost-Tag': 'source=cron' },
});
const [, id = ''] = /^250 2\.0\.0 Queued (\S+)/.exec(response) ?? [];
assert.match((await inbox.waitFor({ to, subject: 'By SMTP' }, 60)).text, /The backup is done/);
const email = await until(
  () => fernpost.emails.get(id),
  ({ status }) => status === 'DELIVERED',
);
assert.deepEqual([email.to, email.tags], [to, { source: 'cron' }]);

const stranger = transport.sendMail({ from: 'me@stranger.example', to, subject: 'No', text: 'No' });
await assert.rejects(stranger, /550/);
