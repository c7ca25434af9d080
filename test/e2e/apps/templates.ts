import assert from 'node:assert/strict';
import { address, fernpost, from, inbox } from './app.ts';

// Content that is kept on the service, with variables, conditions and loops.
const template = await fernpost.templates.create({
  name: `Order ${crypto.randomUUID()}`,
  type: 'TRANSACTIONAL',
  from,
  subject: 'Order {{order.number}}',
  body: '<ul>{% for item in order.items %}<li>{{item}}</li>{% endfor %}</ul>',
});
const to = address('ada');
const data = { order: { value: { number: 'A-17', items: ['Tea', 'Cups'] }, persistent: false } };
await fernpost.send({ to, template: template.id, data });
assert.match((await inbox.waitFor({ to, subject: 'Order A-17' }, 60)).html, /<li>Tea<\/li><li>Cups<\/li>/);

const preview = await fernpost.call('previewTemplate', {
  body: { subject: 'Hi {{firstName ?? there}}', body: '<p>Hi</p>', data: {} },
});
assert.equal(preview.subject, 'Hi there');
const changed = await fernpost.templates.update(template.id, { subject: 'Your order {{order.number}}' });
assert.equal(changed.subject, 'Your order {{order.number}}');
