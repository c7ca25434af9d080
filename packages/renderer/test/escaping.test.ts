import { expect, test } from 'vitest';
import { prepareTemplate } from '../src/parse.ts';
import { render } from '../src/render.ts';
import { variablesOf } from './arbitraries.ts';

const evil = '<script>"&\'</script>';
const escaped = '&lt;script&gt;&#34;&amp;&#39;&lt;/script&gt;';

function html(
  source: string,
  stored: Record<string, unknown>,
  request?: Record<string, unknown>,
  event?: Record<string, unknown>,
): string {
  return render(prepareTemplate(source, { mode: 'html' }), variablesOf(stored, request, event));
}

test('what is stored on a contact or came with an event is escaped once', () => {
  expect(html('{{x}} {{data.x}} {{data["x"]}}', { x: evil })).toBe(`${escaped} ${escaped} ${escaped}`);
  expect(html('{{x}} {{event.x}}', {}, undefined, { x: evil })).toBe(`${escaped} ${escaped}`);
  expect(html('{{list}} {{object}}', { list: [evil, { a: '<' }], object: { a: '<' } })).toBe(
    `<li>${escaped}</li>\n<li>{&#34;a&#34;:&#34;&lt;&#34;}</li> {&#34;a&#34;:&#34;&lt;&#34;}`,
  );
  expect(html('{{email}}', {})).toBe('o&#39;brien@example.com');
});

test('what came with the request itself is inserted as it is, whichever way it is reached', () => {
  const request = { x: evil, list: [{ name: evil }], tags: ['<b>'] };
  expect(html('{{x}}{{data.x}}', {}, request)).toBe(evil + evil);
  expect(html('{% for one in list %}{{one.name}}{% endfor %}{{list[0].name}}', {}, request)).toBe(evil + evil);
  expect(html('{% assign y = x | append: "!" %}{{y | prepend: x}}', {}, request)).toBe(`${evil}${evil}!`);
  expect(html('{% capture y %}<i>{{x}}</i>{% endcapture %}{{y}}{{y | strip}}', {}, request)).toBe(
    `<i>${evil}</i><i>${evil}</i>`,
  );
  expect(html('{{tags}}{{missing ?? <hr>}}', {}, request)).toBe('<li><b></li><hr>');
});

test('a name that the request does not give is the contact’s, also beside one that it gives', () => {
  expect(html('{{x}}{{y}}{{ x | append: y }}', { y: '<' }, { x: '<' })).toBe('<&lt;&lt;&lt;');
  expect(html('{% for x in list %}{{x}}{% else %}{{x}}{% endfor %}', { x: '<stored>' }, { list: [] })).toBe(
    '&lt;stored&gt;',
  );
  expect(html('{% for x in list %}{{x}}{% endfor %}', { list: ['<'] }, { x: 'mine' })).toBe('&lt;');
  expect(html('{% for pair in data %}{{pair[1]}}{% endfor %}', { y: '<' }, { x: '<' })).toBe('&lt;&lt;');
  expect(html('{{ data[key] }}', { y: '<' }, { key: 'y' })).toBe('&lt;');
});

test('an automation’s context hides what the request gave, and is a stranger’s', () => {
  expect(html('{{x}} {{data.x}}', {}, { x: '<mine>' }, { x: '<theirs>' })).toBe('&lt;theirs&gt; <mine>');
});

test('assigned, captured and filtered values stay a stranger’s', () => {
  const stored = { x: evil };
  expect(html('{% assign y = x %}{{y}}', stored)).toBe(escaped);
  expect(html('{% assign y = x | split: "," | first %}{% assign z = y %}{{z | strip}}', stored)).toBe(escaped);
  expect(html('{% capture y %}<i>{{x}}</i>{% endcapture %}{{y}}', stored)).toBe(`<i>${escaped}</i>`);
  expect(html('{% capture y %}{{x}}{% endcapture %}{{y | upcase}}', stored)).toBe(
    escaped.replaceAll('script', 'SCRIPT'),
  );
  expect(html('{{ x | split: "s" | join: "s" }}', stored)).toBe(escaped);
  expect(html('{{ x | url_decode }}', { x: '%3Cb%3E' })).toBe('&lt;b&gt;');
  expect(html('{% capture y %}{{x}}{% endcapture %}{{ y | url_decode }}', { x: '%3Cb%3E' })).toBe('&lt;b&gt;');
  expect(html('{% cycle x, "<i>" %}{% echo x %}{% liquid echo x %}', stored)).toBe(escaped.repeat(3));
  expect(html('{% tablerow y in list %}{{y}}{% endtablerow %}', { list: ['<'] })).toBe(
    '<tr class="row1"><td class="col1">&lt;</td></tr>',
  );
});

test('a value that its author escapes is not escaped again', () => {
  const stored = { x: evil, bio: 'a<b\nc' };
  expect(html('{{ x | escape }} {{ x | strip | escape | append: "!" }}', stored)).toBe(`${escaped} ${escaped}!`);
  expect(html('{{ bio | escape | newline_to_br }}', stored)).toBe('a&lt;b<br />\nc');
  expect(html('{% assign y = x | escape %}{{y}}', stored)).toBe(escaped);
  expect(html('{% capture y %}{{ x | escape }}{% endcapture %}{{y}}', stored)).toBe(escaped);
});

test('markup that the author adds around a stranger’s value is kept', () => {
  const stored = { bio: 'a<b\nc', tags: ['<', '&'] };
  expect(html('{{ bio | newline_to_br }}', stored)).toBe('a&lt;b<br />\nc');
  expect(html('{{ tags | join: "<br>" }}', stored)).toBe('&lt;<br>&amp;');
  expect(html('{{ bio | strip | append: "<hr>" }}', stored)).toBe('a&lt;b\nc<hr>');
  expect(html('{{ missing | default: "<i>friend</i>" }}{{ missing ?? <i>friend</i> }}', stored)).toBe(
    '<i>friend</i><i>friend</i>',
  );
});

test('an escaped assignment does not vouch for a contact’s own value of the same name', () => {
  expect(html('{{y}}{% assign y = x | escape %}', { x: 'a', y: '<' })).toBe('&lt;');
  expect(html('{% if no %}{% assign y = x | escape %}{% endif %}{{y}}', { x: 'a', y: '<' })).toBe('&lt;');
});

test('| raw inserts any value as it is, | escape escapes any', () => {
  expect(html('{{ x | raw }}{{ y | escape }}', { x: evil }, { y: '<' })).toBe(`${evil}&lt;`);
  expect(html('{% assign y = x | raw %}{{y}}', { x: '<' })).toBe('&lt;');
});

test('a project can leave contact data as it is', () => {
  const template = prepareTemplate('{{x}}{{x | escape}}', { mode: 'html', escapeValues: false });
  expect(render(template, variablesOf({ x: '<' }))).toBe('<&lt;');
});

test('what only the service writes is not escaped', () => {
  expect(html('{{unsubscribeUrl}}', {})).toBe('https://mail.example/unsubscribe/1?e=2&t=3');
});

test('text is never escaped', () => {
  const template = prepareTemplate('{{x}} {% capture y %}{{x}}{% endcapture %}{{y}}', { mode: 'text' });
  expect(render(template, variablesOf({ x: evil }))).toBe(`${evil} ${evil}`);
});

test('a template that does not parse is filled in by the same rules', () => {
  expect(html('{% if %}{{x}}{{y}}{{data.x}}{{unsubscribeUrl}}', { x: '<' }, { y: '<' })).toBe(
    '{% if %}&lt;<&lt;https://mail.example/unsubscribe/1?e=2&t=3',
  );
});
