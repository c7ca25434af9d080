import { expect, test } from 'vitest';
import { type ContentSource, prepareContent } from '../../../src/templates/content/prepare.ts';

const links = { pagesUrl: 'https://pages.example', apiUrl: 'https://api.example', secret: 's' };
const source: ContentSource = {
  subject: '',
  body: '',
  messageClass: 'TRANSACTIONAL',
  projectName: 'Acme',
  language: 'en',
  escapeContactData: true,
  findsSimilarFields: true,
};

function filled(
  body: string,
  data: Record<string, unknown>,
  { requestData, event, ...more }: Partial<ContentSource> & { requestData?: object; event?: object } = {},
) {
  const missing = new Set<string>();
  const contact = { id: 'c', email: 'ada@example.com', subscribed: true, data };
  const recipient = { emailId: null, contact, requestData, event, isCampaign: true, missing } as never;
  const { subject } = prepareContent({ ...source, subject: body, body, ...more }, links).renderFor(recipient);
  return { subject, missing: [...missing] };
}

test.each([
  ['firstname', 'lower case'],
  ['first_name', 'underscores'],
  ['First Name', 'blanks'],
  ['FIRST_NAME', 'capitals'],
])('{{firstName}} finds the field "%s"', (field) => {
  expect(filled('Hi {{firstName}}', { [field]: 'Ada' })).toEqual({ subject: 'Hi Ada', missing: [] });
  expect(filled('Hi {{ data.firstName }}', { [field]: 'Ada' }).subject).toBe('Hi Ada');
  expect(filled('{% if firstName %}Hi {{ firstName | upcase }}{% endif %}', { [field]: 'Ada' }).subject).toBe('Hi ADA');
});

test('exact sources win, whichever they are', () => {
  const data = { first_name: 'field' };
  expect(filled('{{firstName}}', { ...data, firstName: 'exact' }).subject).toBe('exact');
  expect(filled('{{firstName}}', data, { requestData: { firstName: 'request' } }).subject).toBe('request');
  expect(filled('{{firstName}}', data, { event: { firstName: 'event' } }).subject).toBe('event');
  // An empty value that somebody wrote is still theirs.
  expect(filled('{{firstName}}', { ...data, firstName: '' }).subject).toBe('');
});

test('two fields that match are none, reserved names never match, and a missing variable is still missing', () => {
  expect(filled('{{firstName}}', { firstname: 'a', first_name: 'b' })).toEqual({ subject: '', missing: ['firstName'] });
  expect(filled('{{unsubscribeUrl}}', { unsubscribeurl: 'https://evil.example' }).subject).not.toContain('evil');
  expect(filled('{{email}}', { Email: 'x@example.com' }).subject).toBe('ada@example.com');
  expect(filled('{{event}}', { Event: 'x' }).subject).toBe('');
  expect(filled('{{lastName}}', { first_name: 'Ada' })).toEqual({ subject: '', missing: ['lastName'] });
});

test('what stands in for a variable is escaped as the contact’s data is', () => {
  const contact = { id: 'c', email: 'ada@example.com', subscribed: true, data: { first_name: '<b>' } };
  const recipient = { emailId: null, contact, requestData: { plan: '<i>' }, isCampaign: true };
  const { html } = prepareContent({ ...source, subject: 'x', body: '<p>{{firstName}} {{plan}}</p>' }, links).renderFor(
    recipient,
  );
  expect(html).toContain('&lt;b&gt; <i>');
});

test('the content of a request means exactly what it says', () => {
  const exact = { findsSimilarFields: false };
  expect(filled('{{firstName}}', { first_name: 'Ada' }, exact)).toEqual({ subject: '', missing: ['firstName'] });
});
