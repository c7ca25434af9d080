import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { prepareTemplate } from '../src/parse.ts';
import { render } from '../src/render.ts';
import { htmlToText } from '../src/text-layout.ts';
import { deriveText, renderText } from '../src/text-part.ts';
import { variablesOf } from './arbitraries.ts';

const read = (file: string) => readFileSync(join(import.meta.dirname, '../../../test/data/templates', file), 'utf8');

const values = {
  name: 'Zoë & Co <b>',
  action_url: 'https://app.example/go?a=1&b=2',
  login_url: 'https://app.example/login',
  username: 'zoe@example.com',
  support_email: 'help@example.com',
  live_chat_url: 'https://app.example/chat',
  help_url: 'https://app.example/help',
  support_url: 'https://app.example/support',
  billing_url: 'https://app.example/billing',
  notifications_url: 'https://app.example/notifications',
  trial_extension_url: 'https://app.example/1',
  feedback_url: 'https://app.example/2',
  export_url: 'https://app.example/3',
  close_account_url: 'https://app.example/4',
  total: '$33.98',
  receipt_details: [
    { description: 'Pens', amount: '$4.99' },
    { description: 'Ink "blue"', amount: '$28.99' },
  ],
  invoice_details: [{ description: 'Pens', amount: '$4.99' }],
  attachment_details: [
    {
      attachment_name: 'a.pdf',
      attachment_url: 'https://app.example/a.pdf',
      attachment_size: '1 kB',
      attachment_type: 'PDF',
    },
  ],
};

// The words of a text, whatever its lines, its underlining and its blanks inside parentheses.
function wordsOf(text: string): string {
  return text
    .replace(/^[-*]{3,}$/gm, '')
    .replace(/\(\s+/g, '(')
    .replace(/\s+\)/g, ')')
    .replace(/\s+/g, ' ')
    .trim();
}

test.each(['welcome', 'receipt', 'invoice', 'password-reset', 'trial-expiring', 'comment-notification'])(
  'the text of %s.html says what its author’s own text version says',
  (name) => {
    const variables = variablesOf(values);
    const derived = deriveText(prepareTemplate(read(`${name}.html`), { mode: 'html' }));
    if (derived === null) throw new Error('not derived');
    const theirs = render(prepareTemplate(read(`${name}.txt`), { mode: 'text' }), variables);
    expect(wordsOf(renderText(derived, variables) ?? '')).toBe(wordsOf(theirs));
    expect(wordsOf(theirs).length).toBeGreaterThan(100);
  },
);

test.each(['welcome', 'receipt', 'invoice', 'password-reset', 'trial-expiring', 'comment-notification', 'newsletter'])(
  'the derived text of %s.html is the text of each message’s HTML',
  (name) => {
    const template = prepareTemplate(read(`${name}.html`), { mode: 'html' });
    const derived = deriveText(template);
    if (derived === null) throw new Error('not derived');
    for (const data of [
      values,
      {},
      { ...values, name: '  ', action_url: '' },
      { name: 'a\n\nb', receipt_details: [{}, { description: '\u00a0' }] },
    ])
      expect(renderText(derived, variablesOf(data))).toBe(htmlToText(render(template, variablesOf(data))));
  },
);

test('text is laid out by blocks, with links as text (url) and lists with bullets', () => {
  const html = `<html><head><title>no</title><style>p{}</style></head><body>
    <h1>Title</h1><p>One  <b>bold</b>&nbsp;word<br>two<br/><br/><br>three</p>
    <div>a</div><div><div>b</div></div><hr>
    <ul><li>x<ol><li>first</li><li><p>second</p></li></ol></li><li>y</li></ul>
    <table><tr><td>Pens</td><td>$5</td></tr><tr><th>Ink</th></tr></table>
    <a href="https://e.example/?a=1&amp;b=2">Go</a> <a href="https://e.example/">https://e.example/</a> <a href="#top">top</a>
    <a href="mailto:hi@e.example?subject=x">write</a> <a href="https://e.example/pic"><img src="x.png" alt=""></a> <img alt="Logo">
    <!-- hidden --><script>no()</script><pre>l1
  l2</pre></body></html>`;
  expect(htmlToText(html)).toBe(
    [
      'Title',
      '',
      'One bold word',
      'two',
      '',
      'three',
      '',
      'a',
      'b',
      '',
      '---',
      '',
      '* x',
      '  1. first',
      '  2. second',
      '',
      '* y',
      '',
      'Pens $5',
      'Ink',
      'Go (https://e.example/?a=1&b=2) https://e.example/ top write (hi@e.example) https://e.example/pic Logo',
      '',
      'l1',
      'l2',
    ].join('\n'),
  );
});

test('a link inside a link leaves no marks behind', () => {
  expect(htmlToText('<a href="https://a.example">one <a href="https://b.example">two</a> three</a><a href="x">')).toBe(
    'one two (https://b.example) three (https://a.example)x',
  );
});

test('a document that says nothing has an empty text', () => {
  expect(htmlToText('<table><tr><td>&nbsp;<img src="x.png"></td></tr></table>&#847;&zwnj;'.replace('&zwnj;', ''))).toBe(
    '',
  );
});

test.each([
  ['a tag that opens an element which another closes', '{% if x %}<div>{% else %}<p>{% endif %}text'],
  ['a tag that decides which attributes there are', '<a {% if x %}href="https://a.example"{% endif %}>a</a>'],
  ['a loop that is left inside an element', '{% for x in list %}<li>{{x}}{% break %}</li>{% endfor %}'],
  ['a variable that is set where there is no text', '<style>{% assign x = name %}</style>{{x}}'],
  ['an output in the middle of a tag', '<td {{x}}>a</td>'],
  ['a captured text with markup', '{% capture x %}<b>{{name}}</b>{% endcapture %}{{x}}'],
  ['an escaped text that is changed further', '{{ name | escape | upcase }}'],
  ['preformatted text', '<pre>{{name}}</pre>'],
])('text is not derived from a template with %s', (_, source) => {
  const template = prepareTemplate(source, { mode: 'html' });
  expect(template.problem).toBeNull();
  expect(deriveText(template)).toBeNull();
});

test('the text of a message is not filled in when a value brings markup of its own', () => {
  const derived = deriveText(prepareTemplate('<p>{{x}}</p>', { mode: 'html' }));
  if (derived === null) throw new Error('not derived');
  expect(renderText(derived, variablesOf({}, { x: 'Tom & Jerry &amp; <b>co</b>' }))).toBeNull();
  expect(renderText(derived, variablesOf({}, { x: 'Tom & Jerry &amp; co' }))).toBe('Tom & Jerry & co');
  expect(renderText(derived, variablesOf({ x: '&amp; <b>co</b>' }))).toBe('&amp; <b>co</b>');
});
