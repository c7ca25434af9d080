import assert from 'node:assert/strict';
import { address, all, fernpost, from, inbox, only, until } from './app.ts';

// Keep contacts, and respect who wants marketing mail.
const email = address('grace');
const contact = await fernpost.contacts.upsert({ email, subscribed: true, data: { firstName: 'Grace', plan: 'pro' } });
assert.deepEqual((await fernpost.contacts.get(contact.id)).data, { firstName: 'Grace', plan: 'pro' });
assert.equal(only(await all(fernpost.contacts.list({ search: email }))).id, contact.id);

const news = await fernpost.templates.create({
  name: `News for ${email}`,
  type: 'MARKETING',
  from,
  subject: 'News for {{firstName}}',
  body: '<p>You are on the {{plan}} plan.</p>',
});
await fernpost.send({ to: email, template: news.id });
const mail = await inbox.waitFor({ to: email, subject: 'News for Grace' }, 60);

// Grace presses the unsubscribe button of her mail program.
await inbox.unsubscribe(mail);
await until(
  () => fernpost.contacts.get(contact.id),
  ({ subscribed }) => !subscribed,
);
await assert.rejects(fernpost.send({ to: email, template: news.id }), { status: 400, message: /not subscribed/ });
await fernpost.contacts.delete(contact.id);
await assert.rejects(fernpost.contacts.get(contact.id), { status: 404 });
