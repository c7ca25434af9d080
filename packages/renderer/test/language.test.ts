import { contactKeys } from '@fernpost/earlier-name';
import { expect, test } from 'vitest';
import { parseTemplate, prepareTemplate } from '../src/parse.ts';
import { render, renderSubject } from '../src/render.ts';
import { buildVariables } from '../src/variables.ts';
import { variablesOf } from './arbitraries.ts';

const ada = {
  firstName: 'Ada',
  'first name': 'Ada Augusta',
  "user's name": 'ada',
  plan: 'pro',
  score: 0,
  vip: false,
  bare: '',
  none: null,
  items: [
    { name: 'Pen', price: 2.5 },
    { name: 'Ink', price: 4 },
  ],
  tags: ['maths', 'poetry'],
  profile: { tier: 'gold', address: { city: 'London' } },
};

const asText = (source: string, data: Record<string, unknown> = ada) =>
  render(parseTemplate(source, { mode: 'text' }), variablesOf(data));
const asHtml = (source: string, data: Record<string, unknown> = ada) =>
  render(parseTemplate(source, { mode: 'html' }), variablesOf(data));

test.each([
  ['{{firstName}} {{ firstName }} {{data.firstName}}', 'Ada Ada Ada'],
  [
    '{{profile.address.city}} {{items.1.name}} {{items[0].price}} {{tags.first}} {{tags.size}}',
    'London Ink 2.5 maths 2',
  ],
  [
    '{{first name}} / {{data["first name"] | upcase}} / {{data.first name}} / {{["first name"]}}',
    'Ada Augusta / ADA AUGUSTA / Ada Augusta / Ada Augusta',
  ],
  ["{{user's name}}", 'ada'],
  ['[{{missing}}{{none}}{{bare}}{{missing.deeper}}]', '[]'],
  ['[{{}}{{ }}{{-}}]', '[]'],
  ['{{score}} {{vip}}', '0 false'],
  ['{{profile.address}}', '{"city":"London"}'],
  ['{{tags}}', 'maths, poetry'],
  ['{{size}}{{length}}{{first}}', ''],
])('%s reads %s', (source, expected) => {
  expect(asText(source)).toBe(expected);
});

test('the right side of ?? is a literal for whatever is missing, null, false, zero or empty', () => {
  for (const name of ['missing', 'none', 'bare', 'score', 'vip', 'empty list'])
    expect(asText(`{{${name} ?? there}}`, { ...ada, 'empty list': [] }), name).toBe('there');
  expect(asText('{{firstName ?? there}}')).toBe('Ada');
});

test.each([
  ['{{missing ?? firstName}}', 'firstName'],
  ['{{missing ?? "a friend" }}', 'a friend'],
  ["{{missing ?? 'a ?? b'}}", 'a ?? b'],
  ['{{missing ?? a ?? b}}', 'a'],
  ["{{missing ?? don't know}}", "don't know"],
  ['{{missing ?? “friend”}}', 'friend'],
  ['{{missing ?? say "hi" | upcase}}', 'SAY "HI"'],
  ['{{missing | upcase ?? none}}', 'none'],
  ['[{{missing ?? }}]', '[]'],
  ['{{"a ?? b"}}', 'a ?? b'],
  ['{{missing | default: firstName}}', 'Ada'],
  ['{{first nam ?? Friend}}', 'Friend'],
])('%s reads %s', (source, expected) => {
  expect(asText(source)).toBe(expected);
});

test('entities that an editor writes inside delimiters are decoded, those outside are not', () => {
  expect(
    asText('{% if score &lt; 5 %}low{% endif %} {{ missing ?? &quot;R&amp;D&quot; }} &lt;{{ firstName&nbsp;}}', ada),
  ).toBe('low R&D &lt;Ada');
  expect(asText('{{ first&nbsp;name }} {{ data[&#39;plan&#39;] | append: &#34;!&#34; }}', ada)).toContain(
    'Ada Augusta',
  );
});

test('empty text and zero are false in conditions', () => {
  expect(
    asText('{% if score %}a{% elsif bare %}b{% elsif vip %}c{% else %}d{% endif %}{% unless none %}e{% endunless %}'),
  ).toBe('de');
});

test.each([
  [
    '{% for item in items %}{{forloop.index}}/{{forloop.length}} {{item.name}}{% unless forloop.last %}; {% endunless %}{% endfor %}',
    '1/2 Pen; 2/2 Ink',
  ],
  ['{% for item in items reversed limit: 1 %}{{item.name}}{% endfor %}', 'Pen'],
  ['{% for i in (1..3) %}{% if i == 2 %}{% continue %}{% endif %}{{i}}{% endfor %}', '13'],
  ['{% for x in missing %}{{x}}{% else %}nothing{% endfor %}', 'nothing'],
  ['{% case plan %}{% when "free", "pro" %}known{% else %}other{% endcase %}', 'known'],
  [
    '{% assign greeting = firstName | prepend: "Hi " %}{{greeting}} {% capture both %}{{firstName}}-{{plan}}{% endcapture %}{{both | upcase}}',
    'Hi Ada ADA-PRO',
  ],
  [
    '{% if plan == "pro" and tags contains "maths" %}yes{% endif %}{% if tags == empty %}no{% endif %}{% if bare == blank %}!{% endif %}',
    'yes!',
  ],
  ['{% cycle "a", "b" %}{% cycle "a", "b" %}{% increment n %}{% increment n %}', 'ab01'],
  ['{% raw %}{{ firstName }}{% endraw %}{% comment %}{{ unclosed {% endcomment %}', '{{ firstName }}'],
  ['a {{- firstName -}} b', 'aAdab'],
  ['{{ "2026-03-01" | date: "%B %-d, %Y" }} {{ "2026-03-01T23:30:00Z" | date: "%H:%M" }}', 'March 1, 2026 23:30'],
])('%s reads %s', (source, expected) => {
  expect(asText(source)).toBe(expected);
});

test('a bare list prints list items in HTML, and | raw and | join opt out', () => {
  expect(asHtml('{{tags}}')).toBe('<li>maths</li>\n<li>poetry</li>');
  expect(asHtml('{{tags | raw}} {{tags | join: " & "}}')).toBe('mathspoetry maths & poetry');
  expect(asHtml('<i title="{{tags}}">')).toBe('<i title="maths, poetry">');
});

test('text that comes out of a value is never rendered again', () => {
  expect(asText('{{firstName}}', { firstName: '{{plan}}{% if x %}', plan: 'pro' })).toBe('{{plan}}{% if x %}');
});

test('only own properties are visible', () => {
  expect(asText('[{{constructor}}{{__proto__}}{{toString}}{{profile.constructor}}{{tags.length.constructor}}]')).toBe(
    '[]',
  );
});

test('reserved names mean what the service says, whatever contact, request and event call their own', () => {
  const shadow = {
    id: 'x',
    email: 'x',
    subscribed: 'x',
    data: 'x',
    locale: 'de',
    unsubscribeUrl: 'x',
    fernpost_id: 'x',
    [contactKeys.id]: 'x',
    event: 'x',
  };
  const variables = buildVariables({
    contact: { id: 'c-1', email: 'ada@example.com', subscribed: false, data: { ...shadow, name: 'contact' } },
    requestData: { ...shadow, name: 'request', locale: 'fr' },
    event: { ...shadow, name: 'event' },
    urls: { unsubscribeUrl: 'https://u', subscribeUrl: 'https://s', manageUrl: 'https://m' },
  });
  const source =
    '{{id}} {{email}} {{subscribed}} {{locale}} {{unsubscribeUrl}} {{manageUrl}} {{fernpost_id}} {{fernpost_email}} | {{name}} {{event.name}} {{data.name}} {{data.subscribed}}';
  const earlier = `{{${contactKeys.id}}} {{${contactKeys.email}}}`;
  expect(render(parseTemplate(earlier, { mode: 'text' }), variables)).toBe('c-1 ada@example.com');
  expect(render(parseTemplate(source, { mode: 'text' }), variables)).toBe(
    'c-1 ada@example.com false de https://u https://m c-1 ada@example.com | event event request x',
  );
});

test('values that are for one request only are unwrapped, and empty and null ones hide what the contact has', () => {
  const variables = variablesOf(ada, {
    firstName: { value: 'Countess', persistent: false },
    plan: '',
    tags: null,
    profile: { value: 1, persistent: true },
  });
  expect(
    render(parseTemplate('{{firstName}}[{{plan}}{{tags}}]{{data.firstName}} {{profile}}', { mode: 'text' }), variables),
  ).toBe('Countess[]Countess {"value":1,"persistent":true}');
});

test('a subject is one line of at most 998 characters', () => {
  const subject = (source: string, data: Record<string, unknown>) =>
    renderSubject(prepareTemplate(source, { mode: 'text' }), variablesOf(data));
  expect(subject('Hi {{name}}\r\n\r\nBcc: {{name}}', { name: 'a\nb\u0000\u2028c' })).toBe('Hi a b c Bcc: a b c');
  expect(subject('{{name}}', { name: '<b>Tom & Jerry</b>' })).toBe('<b>Tom & Jerry</b>');
  expect(subject('{{name}}', { name: `${'x'.repeat(997)}😀` })).toBe('x'.repeat(997));
});

test('a filter that cannot work with its input leaves it as it is', () => {
  expect(asText('{{ bad | url_encode }}{{ "%E0" | url_decode }}', { bad: '\ud800' })).toBe('\ud800%E0');
  expect(
    render(prepareTemplate('{{ firstName | no_such_filter: 1 | upcase }}', { mode: 'text' }), variablesOf(ada)),
  ).toBe('ADA');
});

test('values that cannot be compared do not fail a template', () => {
  expect(
    asText('{% if odd > 1 or plan contains odd %}a{% else %}b{% endif %}', {
      odd: { toString: 1, valueOf: 2 },
      plan: 'x',
    }),
  ).toBe('b');
});
