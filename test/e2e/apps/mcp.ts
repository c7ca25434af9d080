import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { address, all, baseUrl, fernpost, from, inbox, keysPath, only, signedIn } from './app.ts';

// An assistant plans an email and commits the plan. Whatever it repeats, on whichever connection, one email is sent.
const dashboard = await signedIn();

async function keyOf(mcp: object): Promise<string> {
  const created = await dashboard('POST', keysPath, { name: 'Assistant', scopes: ['emails:send', 'emails:read'], mcp });
  assert.equal(created.status, 201);
  return ((await created.json()) as { key: string }).key;
}

interface Result {
  planId: string;
  sentence: string;
  needsApproval: boolean;
  alreadyDone: boolean;
  error: { code: string };
}

async function use(client: Client, name: string, input: object): Promise<Result> {
  const { structuredContent } = await client.callTool({ name, arguments: { ...input } });
  return structuredContent as unknown as Result;
}

async function connected(key: string, fetcher: typeof fetch = fetch): Promise<Client> {
  const client = new Client({ name: 'app', version: '1.0.0' });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', baseUrl), { requestInit, fetch: fetcher }));
  return client;
}

// Every first answer to a tool is lost after the service has done what was asked.
const lost = new Set<string>();
const losing: typeof fetch = async (url, init) => {
  const answer = await fetch(url, init);
  const message = String(init?.body);
  const name = message.includes('"tools/call"') ? (/"name":"(\w+)"/.exec(message)?.[1] ?? '') : '';
  if (name === '' || lost.has(name)) return answer;
  lost.add(name);
  throw new TypeError('the connection was lost');
};
const repeated = async (client: Client, name: string, input: object) => {
  await assert.rejects(use(client, name, input), /the connection was lost/);
  return use(client, name, input);
};

const key = await keyOf({ mode: 'act' });
const assistant = await connected(key, losing);
const to = address('ada');
const mail = { to: [to], from, subject: 'From an assistant', body: '<p>Hello Ada</p>' };
const plan = await repeated(assistant, 'plan_send_email', mail);
assert.equal(plan.sentence, `Send 1 email to "${to}" from "${from}" with the subject "From an assistant".`);
assert.equal((await all(fernpost.emails.list({ to }))).length, 0);
// The plan whose answer was lost is never committed; the one that was answered is, again and again.
const commit = { planId: plan.planId };
assert.equal((await repeated(assistant, 'commit', commit)).alreadyDone, true);
const commits = await Promise.all([1, 2, 3, 4].map(() => use(assistant, 'commit', commit)));
assert.ok(commits.every(({ alreadyDone }) => alreadyDone));
// A program that clients start has the same tools.
const started = new Client({ name: 'app', version: '1.0.0' });
const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', FERNPOST_URL: baseUrl, FERNPOST_KEY: key };
await started.connect(new StdioClientTransport({ command: 'npx', args: ['fernpost', 'mcp'], env }));
assert.equal((await use(started, 'commit', commit)).alreadyDone, true);
assert.equal((await use(started, 'plan_send_email', mail)).alreadyDone, true);
await started.close();
await inbox.waitFor({ to }, 60);
only(await all(fernpost.emails.list({ to })));

// A key of which every plan waits for a person.
const careful = await connected(await keyOf({ mode: 'act', needsHuman: 'always' }));
const asked = await use(careful, 'plan_send_email', { ...mail, to: [address('bo')], subject: 'Approved' });
assert.equal(asked.needsApproval, true);
assert.equal((await use(careful, 'commit', asked)).error.code, 'VALIDATION_ERROR');
const approved = { planId: asked.planId };
assert.equal((await use(careful, 'commit', approved)).error.code, 'APPROVAL_NEEDED');
const waiting = (await (await dashboard('GET', '/projects/{project}/mcp-plans')).json()) as { id: string }[];
assert.deepEqual(
  waiting.map(({ id }) => id),
  [asked.planId],
);
const approval = await dashboard('POST', `/projects/{project}/mcp-plans/${asked.planId}/approve`);
assert.equal(approval.status, 204);
assert.equal((await use(careful, 'commit', approved)).alreadyDone, false);
await inbox.waitFor({ subject: 'Approved' }, 60);
