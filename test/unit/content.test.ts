import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { htmlToText } from '@fernpost/renderer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { someData, someTemplate } from '../../packages/renderer/test/arbitraries.ts';
import type { MessageClass } from '../../src/lib/enums.ts';
import {
  type ContentSource,
  contentAsWritten,
  type MessageRecipient,
  prepareContent,
} from '../../src/templates/content/prepare.ts';

const links = { pagesUrl: 'https://mail.example', apiUrl: 'https://api.mail.example', secret: 'a secret of links' };
const contactId = '0190a1f4-0000-7000-8000-000000000001';
const emailId = '0190a1f4-0000-7000-8000-00000000000e';

const source = (body: string, more: Partial<ContentSource> = {}): ContentSource => ({
  subject: 'Hi {{name ?? there}}',
  body,
  messageClass: 'MARKETING',
  projectName: 'Acme',
  language: 'en',
  escapeContactData: true,
  ...more,
});

const recipient = (data: Record<string, unknown> = {}, more: Partial<MessageRecipient> = {}): MessageRecipient => ({
  emailId,
  contact: { id: contactId, email: 'ada@example.com', subscribed: true, data },
  isCampaign: false,
  ...more,
});

const renderOne = (
  body: string,
  data: Record<string, unknown> = {},
  more: Partial<ContentSource> = {},
  also: Partial<MessageRecipient> = {},
) => prepareContent(source(body, more), links).renderFor(recipient(data, also));

const headerNames = (headers: { name: string }[]) => headers.map(({ name }) => name);
const read = (file: string) => readFileSync(join(import.meta.dirname, '../data/templates', file), 'utf8');

test('marketing mail ends with a footer that names the project and links the unsubscribe page of the contact', () => {
  const { html, text, subject } = renderOne(
    read('newsletter.html'),
    { name: 'Ada' },
    { projectName: 'Tom & {{Jerry}}' },
  );
  expect(subject).toBe('Hi Ada');
  const footer = html.slice(html.lastIndexOf('<div lang="en"'));
  expect(footer).toContain('Tom &amp; &#123;&#123;Jerry}}');
  expect(footer).toMatch(
    new RegExp(`href="https://mail.example/unsubscribe/${contactId}\\?e=${emailId}&t=[\\w-]{22}"`),
  );
  expect(footer.endsWith('</div>\n</body>\n</html>\n')).toBe(true);
  expect(text).toMatch(
    /You are receiving this email because you are subscribed to Tom & {{Jerry}}\.\n\nUnsubscribe \(https:\/\/mail\.example\/unsubscribe\//,
  );
  expect(text).toContain('Good luck! Hope it works.');
});

test('the footer stands before the last </body>, or at the end, and beside an unsubscribe link of the author’s', () => {
  expect(renderOne('<html><body>a</body><!-- </body> --></html>').html).toMatch(
    /a<div lang[\s\S]*<\/div>\n<\/body><!-- <\/body> --><\/html>$/,
  );
  expect(renderOne('<html><body>a').html).toMatch(/a<div lang[\s\S]*<\/div>\n$/);
  expect(renderOne('{% if x %}<html><body>a</body>{% endif %}', { x: 1 }).html).toMatch(/a<div lang[\s\S]*<\/body>$/);
  expect(renderOne('{% if x %}<html><body>a</body>{% endif %}').html).toMatch(/<body>\n\n<div lang/);
  expect(renderOne('<a href="{{unsubscribeUrl}}">no more</a>').html.match(/\/unsubscribe\//g)).toHaveLength(2);
});

test.each([
  ['de', undefined, 'en', /Abmelden/],
  ['de-AT', undefined, 'en', /Abmelden/],
  [undefined, undefined, 'fr', /Se désabonner/],
  ['tlh', undefined, 'pl', /Wypisz się/],
  ['zh-hant-hk', undefined, 'en', /取消訂閱/],
  ['zh', undefined, 'en', /退订/],
  [42, undefined, 'xx', /Unsubscribe/],
])(
  'a contact with locale %s in a project in %s reads the footer in the right language',
  (locale, _, language, expected) => {
    expect(renderOne('a', locale === undefined ? {} : { locale }, { language }).html).toMatch(expected);
  },
);

test.each(['HEADLESS', 'TRANSACTIONAL'] as const)(
  '%s mail has no footer, and one-click headers only when it links a page of the contact',
  (messageClass) => {
    const plain = renderOne('<p>Hi</p>', {}, { messageClass });
    expect(plain.html).not.toContain('lang="en"');
    expect(plain.headers).toEqual([]);
    for (const name of ['unsubscribeUrl', 'manageUrl'])
      expect(headerNames(renderOne(`<a href="{{${name}}}">x</a>`, {}, { messageClass }).headers), name).toEqual([
        'List-Unsubscribe',
        'List-Unsubscribe-Post',
      ]);
    expect(renderOne('<a href="{{subscribeUrl}}">x</a>', {}, { messageClass }).headers).toEqual([]);
    expect(headerNames(renderOne('a', {}, { messageClass }, { isCampaign: true }).headers)).toEqual([
      'Precedence',
      'Auto-Submitted',
      'X-Auto-Response-Suppress',
    ]);
  },
);

test('marketing mail offers one-click unsubscribing, unless the provider does', () => {
  const { headers } = renderOne('a');
  expect(headers[0]).toMatchObject({ name: 'List-Unsubscribe' });
  expect(headers[0]?.value).toMatch(
    new RegExp(`^<https://api.mail.example/unsubscribe/${contactId}\\?e=${emailId}&t=[\\w-]{22}>$`),
  );
  expect(headers[1]).toEqual({ name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' });
  expect(headerNames(renderOne('a', {}, {}, { ownUnsubscribeHeaders: false }).headers)).toEqual([
    'Precedence',
    'Auto-Submitted',
    'X-Auto-Response-Suppress',
  ]);
});

test('a body without a document of its own gets a minimal one, and one with it keeps its own', () => {
  const messageClass: MessageClass = 'TRANSACTIONAL';
  expect(renderOne('<p>Hi</p>', {}, { messageClass }).html).toMatch(
    /^<!doctype html>\n<html>[\s\S]*charset="utf-8"[\s\S]*name="viewport"[\s\S]*<body>\n<p>Hi<\/p>\n<\/body>\n<\/html>\n$/,
  );
  const own = '<HTML><Body class="x">Hi</Body></HTML>';
  expect(renderOne(own, {}, { messageClass }).html).toBe(own);
  expect(renderOne('<!-- <html> --> a', {}, { messageClass }).html).toMatch(/^<!doctype/);
});

test('a document that comes in by the request’s data is not put into another, and gets the footer in its place', () => {
  const { html } = renderOne('{{content}}', {}, {}, { requestData: { content: '<html><body>mine</body></html>' } });
  expect(html).toMatch(/^<html><body>mine<div lang[\s\S]*<\/div>\n<\/body><\/html>$/);
});

test('links to the pages of the recipient are not tracked, other links are', () => {
  const { html } = renderOne(
    '<a href="{{ unsubscribeUrl }}">1</a><A class=x href={{manageUrl}}>2</A>{% assign u = subscribeUrl | append: "&x=1" %}<a href="{{u}}">3</a><a href="{{url}}">4</a>',
    { url: 'https://e.example/a b' },
    { messageClass: 'HEADLESS' },
  );
  expect(html.match(/<a data-pm-no-track/gi)).toHaveLength(3);
  expect(html).toContain('<a href="https://e.example/a b">4</a>');
  expect(html).toMatch(/<A data-pm-no-track class=x href="https:\/\/mail\.example\/manage\/[^"]*">2<\/A>/);
});

test('a value cannot leave an attribute that its author did not quote', () => {
  const { html } = renderOne(
    '<a title={{name}} href=https://e.example/{{name}}>x</a>',
    { name: 'a onclick=b' },
    { messageClass: 'HEADLESS' },
  );
  expect(html).toContain('<a title="a onclick=b" href="https://e.example/a onclick=b">x</a>');
});

test('the text part is that of the HTML, whatever the template and the values', () => {
  const text = fc.constantFrom(
    '<p>a</p>',
    ' b ',
    '<a href="{{url}}">{{name}}</a>',
    '<li>{{n}}</li>',
    '</body>',
    '<html><body>',
    '<br>',
  );
  const template = someTemplate({ text, around: (inside) => `<div>${inside}</div>`, everything: true });
  fc.assert(
    fc.property(template, someData, fc.option(someData), fc.boolean(), (body, data, requestData, escapeContactData) => {
      const content = renderOne(body, data, { escapeContactData }, { requestData });
      expect(content.text ?? '').toBe(htmlToText(content.html));
      expect(content.html.match(/<div lang="en"/g)).toHaveLength(1);
    }),
    { numRuns: Number(process.env.RUNS ?? 150) },
  );
});

test('content without words has no text part', () => {
  expect(renderOne('<img src="x.png">', {}, { messageClass: 'HEADLESS' }).text).toBeNull();
});

test('a broken template is sent all the same, with footer and document, and says what is wrong', () => {
  const content = renderOne('{% if %}<p>Hi {{name}}</p>', { name: '<Ada>' });
  expect(content.html).toMatch(/^<!doctype[\s\S]*{% if %}<p>Hi &lt;Ada&gt;<\/p>[\s\S]*<div lang[\s\S]*<\/body>/);
  expect(content.problem).toMatch(/line 1, column 1/);
  expect(renderOne('a', {}, { subject: '{{ x' })).toMatchObject({
    subject: '{{ x',
    problem: expect.stringMatching(/not closed/),
  });
});

test('a template that never stays within its limits is given up after some messages, one that did is not', () => {
  const body = '{{name}}{% for a in list %}{{big}}{% endfor %}';
  const huge = recipient({ name: 'Ada', big: 'x'.repeat(100_000), list: Array.from({ length: 200 }, () => 1) });
  const hopeless = prepareContent(source(body), links);
  const problems = Array.from({ length: 21 }, () => hopeless.renderFor(huge).problem);
  expect(problems.slice(0, 20).every((problem) => /10 MB/.test(problem ?? ''))).toBe(true);
  expect(problems[20]).toMatch(/over its limits/);
  expect(hopeless.renderFor(recipient({ name: 'Ada' })).html).toContain('Ada{% for a in list %}');

  const sound = prepareContent(source(body), links);
  expect(sound.renderFor(recipient({ name: 'Ada' })).problem).toBeNull();
  for (let i = 0; i < 21; i++) expect(sound.renderFor(huge).problem).toMatch(/10 MB/);
  expect(sound.renderFor(recipient({ name: 'Ada' }))).toMatchObject({
    problem: null,
    html: expect.stringContaining('\nAda\n'),
  });
});

test('a test message has neither footer nor default headers, and content as written keeps its placeholders', () => {
  const content = renderOne('a', {}, { isTest: true }, { isCampaign: true, customHeaders: { 'X-Own': '1' } });
  expect(content.html).not.toContain('lang="en"');
  expect(content.headers).toEqual([{ name: 'X-Own', value: '1' }]);
  expect(contentAsWritten({ subject: '{{name}}\n', body: 'Hi {{name}}' })).toMatchObject({
    subject: '{{name}} ',
    text: 'Hi {{name}}',
  });
});

test('an automation’s context is seen, and request data is inserted as it is', () => {
  const body = '{{total}} {{event.total}} {{x}}';
  const event = { total: { value: '<5>', persistent: false } };
  expect(renderOne(body, { total: 1 }, {}, { event, requestData: { x: '<i>' } }).html).toContain(
    '&lt;5&gt; &lt;5&gt; <i>',
  );
});
