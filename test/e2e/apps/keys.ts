import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Posthorn } from '@posthorn/sdk';
import { address, baseUrl, from, only, posthorn } from './app.ts';

// A key that may send to one domain and nothing else.
const { login, projectId } = JSON.parse(readFileSync(process.env.FIRST_PROJECT ?? '', 'utf8'));
const headers: Record<string, string> = { 'Content-Type': 'application/json' };
const signedIn = await fetch(`${baseUrl}/auth/login`, { method: 'POST', headers, body: JSON.stringify(login) });
headers.cookie = signedIn.headers
  .getSetCookie()
  .map((one) => one.split(';')[0])
  .join('; ');
const keys = `${baseUrl}/users/@me/projects/${projectId}/api-keys`;
const wanted = { name: 'CI', scopes: ['emails:send', 'emails:read'], recipients: { domains: ['example.com'] } };
const created = await fetch(keys, { method: 'POST', headers, body: JSON.stringify(wanted) });
const { id, key } = (await created.json()) as { id: string; key: string };
assert.match(key, /^rk_/);

const ci = new Posthorn({ baseUrl, key });
const mail = { from, subject: 'Hello', body: '<p>Hello</p>' };
await ci.send({ ...mail, to: address('ada') });
await assert.rejects(ci.contacts.get(crypto.randomUUID()), { status: 403, code: 'SCOPE_MISSING' });
// A test key keeps mail to anybody else.
const kept = only(await ci.send({ ...mail, to: 'customer@posthorn.test' }));
assert.equal((await posthorn.emails.get(kept.email)).status, 'SUPPRESSED');

assert.equal((await fetch(`${keys}/${id}`, { method: 'DELETE', headers })).status, 204);
await assert.rejects(ci.send({ ...mail, to: address('ada') }), { status: 401 });
