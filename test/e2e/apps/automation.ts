import assert from 'node:assert/strict';
import { address, fernpost, from, inbox, until } from './app.ts';

// A workflow that an event starts.
const name = `signed_up_${crypto.randomUUID().slice(0, 8)}`;
const template = await fernpost.templates.create({
  name,
  type: 'TRANSACTIONAL',
  from,
  subject: 'How is it going?',
  body: '<p>Hello {{firstName}}.</p>',
});
const { id } = await fernpost.call('createWorkflow', { body: { name, eventName: name } });
const path = { id };
await fernpost.call('createWorkflowStep', {
  path,
  body: { type: 'SEND_EMAIL', name: 'Ask', position: { x: 100, y: 250 }, config: { templateId: template.id } },
});
await fernpost.call('updateWorkflow', { path, body: { enabled: true } });

const email = address('ada');
await fernpost.contacts.upsert({ email, subscribed: true, data: { firstName: 'Ada' } });
await fernpost.call('recordEvent', { body: { email, event: name } });
assert.match((await inbox.waitFor({ to: email, subject: 'How is it going?' }, 60)).html, /Hello Ada/);
const { executions } = await until(
  () => fernpost.call('listWorkflowExecutions', { path }),
  (page) => page.executions.every(({ status }) => status === 'COMPLETED'),
);
assert.equal(executions.length, 1);
