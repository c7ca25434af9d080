import * as v from 'valibot';
import { expect, test } from 'vitest';
import { checkDocument, checkEmail, EmailDocument, gmailClip, shareOf } from '../src/index.ts';

const named = (names: string[]) => names.map((name) => ({ name }));
const kinds = (html: string, known: string[] = []) => checkEmail(html, named(known)).map(({ kind }) => kind);

test.each([
  ['<p>Fine</p><a href="https://acme.test/a?b=1">Go</a><img src="https://acme.test/a.png" alt="A">', []],
  ['<a href="{{unsubscribeUrl}}">x</a><a href="mailto:a@b.test">y</a>', []],
  ['<a href="">x</a>', ['link']],
  ['<a>x</a>', ['link']],
  ['<a href="acme.test">x</a>', ['link']],
  ['<a href="http://localhost:3000">x</a>', ['link']],
  ['<a href="https://example.com/y">x</a>', ['link']],
  ['<img src="https://acme.test/a.png">', ['image']],
  ['<img alt="x">', ['image']],
  ['<p>{{ firstName }}</p>', ['variable']],
  ['<p>{{ firstName ?? there }} {{ x | default: "y" }}</p>', ['variable']],
  ['{% for item in items %}{{ item.name }}{{ forloop.index }}{% endfor %}', ['variable']],
  ['{% assign a = "b" %}{{ a }} {{ email }} {{ event.amount }}', []],
  ['{% if plan == "pro" and data["first name"] %}x{% endif %}', ['variable', 'variable']],
  ['x'.repeat(gmailClip + 1), ['size']],
])('%#', (html, expected) => {
  expect(kinds(html)).toEqual(expected);
});

test('variables of the project are known, those with a space and in any letter case too', () => {
  expect(
    kinds('{{ FirstName }} {{ plan }} {{ data["last name"] }} {{last name}}', ['firstName', 'plan', 'last name']),
  ).toEqual([]);
});

test('images without alt text and buttons without a label are named wherever they are', () => {
  const image = { type: 'image', attrs: { src: 'https://acme.test/heron.png' } };
  const decorative = { type: 'image', attrs: { src: 'https://acme.test/line.png', decorative: true } };
  const button = { type: 'button', attrs: { label: ' ', href: 'https://acme.test' } };
  const content = [
    { type: 'columns', content: [{ type: 'column', content: [image, decorative] }] },
    { type: 'conditional', attrs: { variable: 'plan', operator: 'exists' }, content: [button] },
  ];
  const found = checkDocument(v.parse(EmailDocument, { version: 1, content }));
  expect(found.map(({ kind }) => kind)).toEqual(['image', 'button']);
  expect(found[0]?.message).toContain('heron.png');
});

test('a field is known without regard to case, spaces and underscores, and two that match are named', () => {
  const messages = (html: string, known: string[]) => checkEmail(html, named(known)).map(({ message }) => message);
  expect(messages('{{ firstName }}', ['first_name'])).toEqual([]);
  expect(messages('{{ firstName }}', ['First Name', 'firstName'])).toEqual([]);
  expect(messages('{{ firstName }}', ['firstname', 'first_name'])).toEqual([
    '“firstName” matches the fields “firstname” and “first_name”, so it is left empty. Use one of their names.',
  ]);
});

test('a variable that most contacts lack is named with its share, unless it has a fallback', () => {
  const messages = (html: string) =>
    checkEmail(html, [{ name: 'firstname', coverage: 32 }, { name: 'plan', coverage: 50 }, { name: 'email' }]).map(
      ({ message }) => message,
    );
  expect(messages('{{ firstName }}')).toEqual([
    '“firstName” is empty for most contacts: 32% have “firstname”. Add a fallback, or send it as data.',
  ]);
  expect(messages('{{ firstname }}')).toEqual([
    '“firstname” is empty for most contacts: 32% have it. Add a fallback, or send it as data.',
  ]);
  expect(checkEmail('{{ firstName }}', [{ name: 'firstname', coverage: 32 }], 6_105)[0]?.message).toBe(
    '“firstName” is empty for most of 6,105 contacts: 32% have “firstname”. Add a fallback, or send it as data.',
  );
  expect(messages('{{ firstName ?? there }}, {{ firstName | upcase }} {{ plan }} {{ email }}')).toEqual([]);
});

test('a variable that messages lack is shown with the fields of a similar name', () => {
  const known = [{ name: 'firstname', coverage: 68 }, { name: 'First Name', coverage: 2 }, { name: 'email' }];
  expect(shareOf('firstName', known)).toBe('; 68% have “firstname”; 2% have “First Name”');
  expect(shareOf('firstname', known.slice(0, 1))).toBe('');
  expect(shareOf('nickname', known)).toBe('');
});
