import assert from 'node:assert/strict';
import { Fernpost } from '@fernpost/sdk';
import { address, baseUrl, fernpost, from, keysPath, only, signedIn } from './app.ts';

// A key that may send to one domain and nothing else.
const dashboard = await signedIn();
const wanted = { name: 'CI', scopes: ['emails:send', 'emails:read'], recipients: { domains: ['example.com'] } };
const created = await dashboard('POST', keysPath, wanted);
const { id, key } = (await created.json()) as { id: string; key: string };
assert.match(key, /^rk_/);

const ci = new Fernpost({ baseUrl, key });
const mail = { from, subject: 'Hello', body: '<p>Hello</p>' };
await ci.send({ ...mail, to: address('ada') });
await assert.rejects(ci.contacts.get(crypto.randomUUID()), { status: 403, code: 'SCOPE_MISSING' });
// A test key keeps mail to anybody else.
const kept = only(await ci.send({ ...mail, to: 'customer@fernpost.test' }));
assert.equal((await fernpost.emails.get(kept.email)).status, 'SUPPRESSED');

assert.equal((await dashboard('DELETE', `${keysPath}/${id}`)).status, 204);
await assert.rejects(ci.send({ ...mail, to: address('ada') }), { status: 401 });
