import assert from 'node:assert/strict';
import { Fernpost } from '@fernpost/sdk';
import { address, baseUrl, fernpost } from './app.ts';

// Record what contacts do: from a browser with the public key, from a server with the secret one.
const email = address('visitor');
const browser = new Fernpost({ baseUrl, key: process.env.PUBLIC_KEY ?? '' });
const { contact } = await browser.track({ email, event: 'signed_up', subscribed: true });
await fernpost.call('recordEvent', { body: { email, event: 'purchase', data: { order: 'A-17', total: 42.5 } } });
await assert.rejects(browser.send({ to: email, subject: 'Hi', body: '<p>Hi</p>' }), { status: 401 });

const { events } = await fernpost.call('listContactEvents', { path: { contactId: contact } });
assert.deepEqual(
  events
    .map(({ name }) => name)
    .filter((name) => name === 'signed_up' || name === 'purchase')
    .sort(),
  ['purchase', 'signed_up'],
);
assert.equal((await fernpost.contacts.get(contact)).subscribed, true);
