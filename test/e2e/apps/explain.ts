import assert from 'node:assert/strict';
import { address, fernpost, from, only, until } from './app.ts';

// Ask why somebody got an email, and why somebody else did not.
const ask = (contact: string, emailId: string) => fernpost.call('explain', { body: { contact, about: { emailId } } });
const mail = { from, subject: 'Hello', body: '<p>Hello</p>' };

const ada = address('ada');
const sent = only(await fernpost.send({ ...mail, to: ada }));
const received = await until(
  () => ask(ada, sent.email),
  ({ verdict }) => verdict === 'received',
);
assert.ok(received.sentence.length > 0);

const blocked = address('blocked');
const rule = { name: blocked, kind: 'ADDRESS' as const, pattern: blocked };
await fernpost.call('createSuppressionRule', { body: rule });
const kept = only(await fernpost.send({ ...mail, to: blocked }));
const refused = await until(
  () => ask(blocked, kept.email),
  ({ verdict }) => verdict === 'did_not' || verdict === 'will_not',
);
assert.ok(refused.decisions.some(({ outcome }) => outcome === 'stop'));
const again = await fernpost.call('getExplanation', { path: { permalink: refused.permalink } });
assert.equal(again.verdict, refused.verdict);
