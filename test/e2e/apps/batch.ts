import assert from 'node:assert/strict';
import { address, all, fernpost, from, inbox } from './app.ts';

// Send many emails in one request: all or none, or each by itself.
const mail = { from, subject: 'Receipt', body: '<p>Thank you.</p>' };
const [ada, grace] = [address('ada'), address('grace')];

const refused = fernpost.sendBatch({
  emails: [
    { ...mail, to: ada },
    { ...mail, to: 'nobody' },
  ],
});
await assert.rejects(refused, { status: 422 });
assert.deepEqual(await all(fernpost.emails.list({ to: ada })), []);

const outcomes = await fernpost.sendBatch({
  mode: 'each',
  emails: [
    { ...mail, to: ada },
    { ...mail, to: 'nobody' },
    { ...mail, to: grace },
  ],
});
assert.deepEqual(
  outcomes.map(({ ok }) => ok),
  [true, false, true],
);
for (const to of [ada, grace]) await inbox.waitFor({ to, subject: 'Receipt' }, 60);
