import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { posthorn } from './app.ts';

// Who changed what, and proof that nobody has changed the log.
const { projectId: id } = JSON.parse(readFileSync(process.env.FIRST_PROJECT ?? '', 'utf8'));
const endpoint = await posthorn.call('createWebhookEndpoint', {
  body: { url: 'https://hooks.example.com/posthorn', events: ['email.bounce'] },
});
await posthorn.call('deleteWebhookEndpoint', { path: { id: endpoint.id } });

const log = await posthorn.call('getProjectAuditLog', { path: { id }, query: { target: endpoint.id } });
assert.ok(typeof log !== 'string');
assert.deepEqual(
  log.data.map(({ action, actor }) => [action, actor.kind]),
  [
    ['webhook_endpoint.deleted', 'key'],
    ['webhook_endpoint.created', 'key'],
  ],
);
assert.ok(!JSON.stringify(log).includes(endpoint.secret));
const { valid, missing } = await posthorn.call('getProjectAuditLogVerify', { path: { id } });
assert.deepEqual([valid, missing], [true, 0]);
