import { expect, test } from 'vitest';
import { highlighted } from '../../../dashboard/src/code/highlight.ts';

const kindsOf = (source: string) =>
  highlighted(source)
    .flat()
    .flatMap(({ kind, text }) => (kind ? [`${kind}: ${text}`] : []));

test('tags, texts of attributes, comments, entities and Liquid are told apart', () => {
  expect(kindsOf('<!doctype html><p class="a > b" id=x>1 &lt; 2<!-- <b> --></p>')).toEqual([
    'doctype: <!doctype html>',
    'tag: p',
    'text: "a > b"',
    'text: &lt;',
    'comment: <!-- <b> -->',
    'tag: p',
  ]);
  expect(kindsOf('{% if plan == "pro" %}<a href="{{ url }}">{{ name ?? "you" }}</a>{%- endif %}')).toEqual([
    'keyword: if',
    'text: "pro"',
    'tag: a',
    'text: "{{ url }}"',
    'text: "you"',
    'tag: a',
    'keyword: endif',
  ]);
});

test.each([
  'One\n\n  <p\n  class="a\nb">two</p>\n',
  '<!-- never closed\n<p>',
  '<a href="never closed\n>',
  "a < b & c > d {x} {{ never {% closed <3 </ <a b='c",
  '',
])('the text stays as it is: %j', (source) => {
  const lines = highlighted(source).map((line) => line.map(({ text }) => text).join(''));
  expect(lines.join('\n')).toBe(source);
});
