import assert from 'node:assert/strict';
import { Fernpost } from '@fernpost/sdk';
import { address, all, baseUrl, fernpost, from, secretKey } from './app.ts';

// An email is sent once, whatever gets lost on the way and however often the app asks.
const receipt = (to: string) => ({ to, from, subject: 'Receipt', body: '<p>Thank you.</p>' });

let lost = 0;
const unreliable = new Fernpost({
  baseUrl,
  key: secretKey,
  fetch: async (url, init) => {
    const answer = await fetch(url, init);
    if (lost++ === 0) throw new TypeError('the connection was lost');
    return answer;
  },
});
const first = address('lost');
const sent = await unreliable.send(receipt(first));
assert.equal(lost, 2);
assert.deepEqual(
  (await all(fernpost.emails.list({ to: first }))).map(({ id }) => id),
  sent.map(({ email }) => email),
);

// An app that crashes and starts over names its own key.
const second = address('restarted');
const key = { idempotencyKey: `receipt-${second}` };
const answers = await Promise.all([1, 2, 3].map(() => fernpost.send(receipt(second), key)));
assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1);
assert.equal((await all(fernpost.emails.list({ to: second }))).length, 1);
await assert.rejects(fernpost.send({ ...receipt(second), subject: 'Another' }, key), { status: 409 });
