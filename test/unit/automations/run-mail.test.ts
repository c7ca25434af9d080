import { describe, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { composeQueued, createComposer } from '../../../src/mail/engine/compose.ts';
import { type ClaimedMail, refusalOf, type StoredRender } from '../../../src/mail/ledger/queries.ts';
import { textsOf } from '../mail-providers/messages.ts';

const compose = createComposer(
  {
    DASHBOARD_URI: 'https://mail.test',
    API_URI: 'https://mail.test',
    LINK_SECRET: 'a secret that is only for the tests of this file',
    POSTMARK_UNSUBSCRIBES: 'self',
  },
  { warn: () => undefined },
);

function stepMail(render: Partial<StoredRender>, changes: Partial<ClaimedMail> = {}): ClaimedMail {
  return {
    id: newId(),
    projectId: newId(),
    contactId: newId(),
    toAddress: 'ingrid.dahl@example.com',
    toName: null,
    from: 'hello@birdwatch.test',
    fromName: 'Birdwatch',
    replyTo: null,
    subject: null,
    body: null,
    render: {
      subject: 'Your {{event.total}} for {{name}}',
      body: '<p>{{total}} and {{coupon}} for {{name}}</p>',
      data: {},
      contact: { name: 'Ingrid', coupon: 'from the contact' },
      subscribed: true,
      event: { total: 620, coupon: '<b>HERON</b>' },
      ...render,
    },
    headers: null,
    attachments: null,
    sourceType: 'WORKFLOW',
    messageClass: 'MARKETING',
    templateId: newId(),
    campaignId: null,
    tracking: null,
    attempts: 0,
    traceparent: null,
    ageMs: 0,
    nowMs: 0,
    isOfStep: true,
    keepsTime: true,
    contact: { email: 'ingrid.dahl@example.com', subscribed: true, data: { name: 'Changed since' } },
    project: {
      name: 'Birdwatch',
      disabled: false,
      tracking: 'ENABLED',
      language: 'en',
      escapeContactData: true,
      holdout: null,
      quietHours: null,
      timeZone: null,
    },
    domainVerified: true,
    ...changes,
  };
}

describe('the mail of a step', () => {
  test('sees what started the run, and the contact as it was when the step ran', () => {
    const { subject, html } = textsOf(composeQueued(compose, stepMail({})));
    expect(subject).toBe('Your 620 for Ingrid');
    // What an event says wins over the contact's data, and is a stranger's text like that.
    expect(html).toContain('<p>620 and &lt;b&gt;HERON&lt;/b&gt; for Ingrid</p>');
  });

  test.each([
    ['WORKFLOW', 'MARKETING', 'WORKFLOW'],
    ['WORKFLOW', 'TRANSACTIONAL', 'TRANSACTIONAL'],
    ['TRANSACTIONAL', 'MARKETING', 'TRANSACTIONAL'],
  ] as const)('from a %s of class %s is tagged %s', (sourceType, messageClass, tag) => {
    expect(composeQueued(compose, stepMail({}, { sourceType, messageClass })).tag).toBe(tag);
  });

  test('is rendered once: placeholders in values stay text', () => {
    const event = { total: '{{email}}', coupon: '{% if true %}x{% endif %}' };
    const { html } = textsOf(composeQueued(compose, stepMail({ event })));
    expect(html).toContain('<p>{{email}} and {% if true %}x{% endif %} for Ingrid</p>');
  });

  test('has one footer and one-click headers where its template is for subscribers', () => {
    const mail = stepMail({});
    const { html, headers } = textsOf(composeQueued(compose, mail));
    expect(html.split(`/unsubscribe/${mail.contactId}`)).toHaveLength(2);
    expect(headers.map(({ name }) => name)).toContain('List-Unsubscribe');
  });

  test('is refused at the last moment when its contact has left meanwhile', () => {
    const contact = { email: 'ingrid.dahl@example.com', subscribed: false, data: {} };
    expect(refusalOf(stepMail({}, { contact }))).toEqual({ code: 'not_subscribed' });
  });

  test('to an address that its author named goes out whatever the contact does', () => {
    const contact = { email: 'ingrid.dahl@example.com', subscribed: false, data: {} };
    const mail = stepMail({ isForOthers: true }, { contact, toAddress: 'sales@birdwatch.test' });
    expect(refusalOf(mail)).toBeNull();
    expect(composeQueued(compose, mail).to).toEqual({ address: 'sales@birdwatch.test', name: null });
  });
});
