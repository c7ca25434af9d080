import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fernpost } from './app.ts';

// Who changed what, and proof that nobody has changed the log.
const { projectId: id } = JSON.parse(readFileSync(process.env.FIRST_PROJECT ?? '', 'utf8'));
const endpoint = await fernpost.call('createWebhookEndpoint', {
  body: { url: 'https://hooks.example.com/fernpost', events: ['email.bounce'] },
});
await fernpost.call('deleteWebhookEndpoint', { path: { id: endpoint.id } });

const log = await fernpost.call('getProjectAuditLog', { path: { id }, query: { target: endpoint.id } });
assert.ok(typeof log !== 'string');
assert.deepEqual(
  log.data.map(({ action, actor }) => [action, actor.kind]),
  [
    ['webhook_endpoint.deleted', 'key'],
    ['webhook_endpoint.created', 'key'],
  ],
);
assert.ok(!JSON.stringify(log).includes(endpoint.secret));
const { valid, missing } = await fernpost.call('getProjectAuditLogVerify', { path: { id } });
assert.deepEqual([valid, missing], [true, 0]);
