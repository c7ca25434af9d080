import { deliveryHeader } from '@fernpost/earlier-name';
import { describe, expect, test } from 'vitest';
import { StepFailure } from '../../../src/automations/runtime/directive.ts';
import { keptResponse, type WebhookFacts, webhookRequest } from '../../../src/automations/runtime/webhook-request.ts';

const facts: WebhookFacts = {
  contact: {
    id: '0190f3a2-0000-7000-8000-000000000001',
    email: 'ada@acme.test',
    subscribed: true,
    data: { plan: 'pro', region: 'eu west', evil: 'x\r\nX-Injected: 1', template: '{{email}}', name: 'Zoë 🐦' },
    createdAt: '2026-01-05T08:00:00.000Z',
    updatedAt: '2026-01-05T08:00:00.000Z',
  },
  context: { total: 620, id: 'not the contact', email: 'not@the.contact' },
  urls: { unsubscribeUrl: 'https://p.test/u', subscribeUrl: 'https://p.test/s', manageUrl: 'https://p.test/m' },
  stepRunId: '0190f3a2-0000-7000-8000-00000000000a',
  automation: { id: '0190f3a2-0000-7000-8000-00000000000b', name: 'Onboarding' },
  run: { id: '0190f3a2-0000-7000-8000-00000000000c', startedAt: '2026-03-02T10:00:00.000Z' },
};

describe('the request of a webhook step', () => {
  test('fills in path, headers and every string of the body, each once', () => {
    const { url, method, headers, ownHeaders, body } = webhookRequest(
      {
        url: 'https://hooks.acme.test/{{data.region}}?who={{ email | url_encode }}',
        headers: { Authorization: 'Bearer s3cret', 'X-Plan': '{{plan}}', Host: 'evil.test', 'Content-Length': '3' },
        body: {
          who: '{{email}}',
          total: '{{event.total}}',
          nested: [{ plan: '{{data.plan}}' }, 7, null],
          raw: '{{template}}',
        },
      },
      facts,
    );
    expect(url.href).toBe('https://hooks.acme.test/eu%20west?who=ada%40acme.test');
    expect(method).toBe('POST');
    expect(headers).toEqual({ authorization: 'Bearer s3cret', 'x-plan': 'pro', 'user-agent': 'fernpost' });
    expect(ownHeaders).toEqual({ 'x-fernpost-delivery': facts.stepRunId, [deliveryHeader]: facts.stepRunId });
    expect(JSON.parse(body ?? '')).toEqual({
      who: 'ada@acme.test',
      total: '620',
      nested: [{ plan: 'pro' }, 7, null],
      raw: '{{email}}',
    });
  });

  test.each([undefined, null, '', 0, false])('a body of %j is the default payload', (body) => {
    expect(JSON.parse(webhookRequest({ url: 'https://hooks.acme.test/', body }, facts).body ?? '')).toEqual({
      contact: { email: 'ada@acme.test', subscribed: true, data: facts.contact.data },
      workflow: { id: facts.automation.id, name: 'Onboarding' },
      execution: { id: facts.run.id, startedAt: facts.run.startedAt },
      event: facts.context,
    });
  });

  test('without a context the default payload has an empty event', () => {
    const { body } = webhookRequest({ url: 'https://hooks.acme.test/' }, { ...facts, context: null });
    expect(JSON.parse(body ?? '').event).toEqual({});
  });

  test('a GET has no body', () => {
    expect(webhookRequest({ url: 'https://hooks.acme.test/', method: 'GET', body: { a: 1 } }, facts).body).toBeNull();
  });

  test('a context cannot shadow what the service says of the contact', () => {
    const { body } = webhookRequest({ url: 'https://hooks.acme.test/', body: '{{id}} {{email}}' }, facts);
    expect(JSON.parse(body ?? '')).toBe(`${facts.contact.id} ada@acme.test`);
  });

  test('other letters than ASCII travel in headers as UTF-8', () => {
    const { headers } = webhookRequest({ url: 'https://h.test/', headers: { 'X-Name': '{{name}}' } }, facts);
    expect(Buffer.from(headers['x-name'] ?? '', 'latin1').toString()).toBe('Zoë 🐦');
  });

  test('a line break in a rendered header fails the step', () => {
    expect(() => webhookRequest({ url: 'https://h.test/', headers: { 'X-Evil': '{{evil}}' } }, facts)).toThrow(
      StepFailure,
    );
  });

  test.each(['bad name', 'x:y', '', 'x\r\ny'])('a header called %j fails the step', (name) => {
    expect(() => webhookRequest({ url: 'https://h.test/', headers: { [name]: '1' } }, facts)).toThrow(StepFailure);
  });

  test.each([
    '{{scheme}}://hooks.acme.test/',
    'https://{{host}}/',
    'https://hooks.acme.test{{suffix}}',
    'https://hooks.acme.test{{suffix}}/path',
    'https://{% if true %}a{% endif %}/',
    'ftp://hooks.acme.test/',
    'file:///etc/passwd',
    'hooks.acme.test/path',
    'https://user:pw@hooks.acme.test/',
    'https:///path',
    'https://',
    '',
  ])('an address whose scheme or host is not literal fails the step: %s', (url) => {
    expect(() => webhookRequest({ url }, facts)).toThrow(StepFailure);
  });

  test.each(['get', 'TRACE', 'CONNECT', '{{method}}'])('the method %s fails the step', (method) => {
    expect(() => webhookRequest({ url: 'https://h.test/', method }, facts)).toThrow(StepFailure);
  });
});

describe('what is kept of an answer', () => {
  test.each([
    ['{"a":[1,null]}', { a: [1, null] }],
    ['plain text', 'plain text'],
    ['', ''],
    ['{"half":', '{"half":'],
    ['{"nul":"\\u0000","half":"\\ud800"}', { nul: '\ufffd', half: '\ufffd' }],
    ['nul \0', 'nul \ufffd'],
  ])('%j', (text, kept) => {
    expect(keptResponse(Buffer.from(text), false)).toEqual(kept);
  });

  test('JSON that was cut is text', () => {
    expect(keptResponse(Buffer.from('{"a":1}'), true)).toBe('{"a":1}');
  });

  test('bytes that are no text do no harm, nor does deep nesting', () => {
    expect(keptResponse(Buffer.from([0xff, 0xfe, 0x00]), false)).toBe('\ufffd\ufffd\ufffd');
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(keptResponse(Buffer.from(deep), false)).toBe(deep);
  });
});
