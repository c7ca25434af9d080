import assert from 'node:assert/strict';
import { address, fernpost, from, inbox, only, until } from './app.ts';

// An app's own end-to-end test: wait for the mail, follow its link, and let mail bounce.
const to = address('new');
const started = new Date();
const body = '<p><a href="https://app.example.com/confirm?token=123">Confirm</a></p>';
const waiting = inbox.waitFor({ to, subject: 'Confirm', since: started }, 60);
const sent = only(await fernpost.send({ to, from, subject: 'Confirm your address', body }));
const mail = await waiting;
assert.equal(mail.metadata.emailId ?? sent.email, sent.email);
const { link } = await inbox.click(mail, '/confirm');
assert.match(link, /token(=|%3D)123/);
await until(
  () => fernpost.emails.get(sent.email),
  ({ status }) => status === 'CLICKED',
);

const bounced = only(await fernpost.send({ to: address('hardbounce+'), from, subject: 'Hello', body: '<p>Hello</p>' }));
await until(
  () => fernpost.emails.get(bounced.email),
  ({ status }) => status === 'BOUNCED',
);
await assert.rejects(inbox.waitFor({ to: address('nobody') }, 1), /No message/);
