import assert from 'node:assert/strict';
import { address, fernpost, from, inbox, only, until } from './app.ts';

// Schedule, move, cancel and release an email; resend one that failed.
const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();
const mail = { from, subject: 'Reminder', body: '<p>It is time.</p>' };

const scheduled = only(await fernpost.send({ ...mail, to: address('later'), scheduledFor: hours(1) }));
const moved = await fernpost.emails.reschedule(scheduled.email, hours(2));
assert.ok(moved.scheduledFor !== null && moved.scheduledFor !== scheduled.scheduledFor);
assert.equal((await fernpost.emails.cancel(scheduled.email)).status, 'CANCELLED');
await assert.rejects(fernpost.emails.cancel(scheduled.email), { status: 409, code: 'EMAIL_LEFT' });

const to = address('held');
const held = only(await fernpost.send({ ...mail, to, hold: '15m' }));
assert.ok(held.heldUntil);
await fernpost.emails.release(held.email);
await inbox.waitFor({ to, subject: 'Reminder' }, 60);

// The sandbox refuses this address, as a provider refuses one that it takes for invalid.
const failed = only(await fernpost.send({ ...mail, to: address('invalid+') }));
const { status } = await until(
  () => fernpost.emails.get(failed.email),
  (email) => email.status !== 'PENDING' && email.status !== 'SENDING',
);
assert.equal(status, 'FAILED');
const resent = await fernpost.emails.resend(failed.email);
assert.equal(resent.resendOf, failed.email);
