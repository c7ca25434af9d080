import assert from 'node:assert/strict';
import { address, all, fernpost, from, inbox, only, until } from './app.ts';

// Send an email, see it arrive, and look up what happened to it.
const to = address('ada');
const sent = only(
  await fernpost.send({
    to,
    from,
    subject: 'Hello {{firstName}}',
    body: '<p>Welcome, {{firstName}}!</p>',
    data: { firstName: 'Ada' },
    tags: { order: 'A-17' },
  }),
);
const mail = await inbox.waitFor({ to, subject: 'Hello Ada' }, 60);
assert.match(mail.html, /Welcome, Ada!/);

const email = await until(
  () => fernpost.emails.get(sent.email),
  ({ status }) => status === 'DELIVERED',
);
assert.deepEqual([email.to, email.subject, email.tags], [to, 'Hello Ada', { order: 'A-17' }]);
assert.ok(email.timeline.length > 0 && email.deliveredAt !== null);
assert.equal(only(await all(fernpost.emails.list({ to }))).id, sent.email);
