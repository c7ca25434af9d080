import { expect, test } from 'vitest';
import { TemplateSyntaxError, TemplateTooLargeError } from '../src/nodes.ts';
import { parseTemplate, prepareTemplate } from '../src/parse.ts';
import { render, renderFully } from '../src/render.ts';
import { renderLimits, StepLimitError } from '../src/run.ts';
import { parseLimits } from '../src/source.ts';
import { substitute } from '../src/substitute.ts';
import { htmlToText } from '../src/text-layout.ts';
import { Filled } from '../src/values.ts';
import { buildVariables, type Variables } from '../src/variables.ts';
import { countSteps, growth, linear } from './counted-steps.ts';

const list = Array.from({ length: 50 }, (_, i) => i);
const contact = {
  id: '1',
  email: 'a@b.example',
  subscribed: true,
  data: { a: 'x', b: list, text: 'word '.repeat(50) },
};
const urls = { unsubscribeUrl: 'u', subscribeUrl: 's', manageUrl: 'm' };
const variables = buildVariables({ contact, urls });

test('what a template that does not parse is filled in with takes steps in proportion to its size', () => {
  for (const part of ['{{ ', '{{ "', "{{ 'a", '{{a}} ', '\\"', '{{-', '{{ a ?? ', '{{ a[', '{{a b '])
    expect(
      growth((n) => () => substitute(part.repeat(n), variables, { mode: 'html', escapeValues: true }), 200),
    ).toBeLessThan(linear);
});

test('HTML that nests without end is converted to text in proportion to its size, and loses no word', () => {
  const deep = (n: number) => `${'<div><b>'.repeat(n)}word &amp; word${'</b></div>'.repeat(n)}`;
  expect(growth((n) => () => htmlToText(deep(n)), 200)).toBeLessThan(linear);
  expect(htmlToText(deep(200))).toBe('word & word');
  expect(htmlToText(deep(100))).toBe('word & word');
});

const hostileRenderings: Record<string, string> = {
  'nested loops':
    '{% for i in b %}{% for j in b %}{% for k in b %}{% for l in b %}{{ l }}{% endfor %}{% endfor %}{% endfor %}{% endfor %}',
  'nested loops without output': `${'{% for i in b %}'.repeat(6)}${'{% endfor %}'.repeat(6)}`,
  'an endless range': '{% for i in (1..1000000000) %}{% endfor %}',
  'ranges in loops': '{% for i in (1..2000) %}{% for j in (1..2000) %}{% endfor %}{% endfor %}',
  'a table of a range': '{% tablerow i in (1..900000) cols:2 %}{% endtablerow %}',
  'conditions in loops':
    '{% for i in b %}{% for j in b %}{% for k in b %}{% if i == j and j == k and k == i %}{% endif %}{% endfor %}{% endfor %}{% endfor %}',
  'comparisons of long texts':
    '{% assign t = text %}{% for i in (1..13) %}{% assign t = t | append: t %}{% endfor %}{% for i in (1..9999) %}{% if t == t %}{% endif %}{% endfor %}',
  'a long condition in a loop': `{% for i in b %}{% for j in b %}{% if a${' and a'.repeat(500)} %}{% endif %}{% endfor %}{% endfor %}`,
  'a long path in a loop': `{% for i in b %}{% for j in b %}{{ a${'.b'.repeat(500)} }}{% endfor %}{% endfor %}`,
  'a long case in a loop': `{% for i in b %}{% for j in b %}{% case j %}{% when 1000${',1000'.repeat(500)} %}{% endcase %}{% endfor %}{% endfor %}`,
  'filters in loops':
    '{% for i in b %}{% for j in b %}{{ b | map: "x" | sort | join: "," | upcase | split: "," | size }}{% endfor %}{% endfor %}',
  'a list nested in itself': `{% assign x = b %}${'{% assign x = x | push: x %}'.repeat(60)}{{ x }}`,
  'a list that doubles': `{% assign x = b %}${'{% assign x = x | concat: x %}'.repeat(40)}{{ x | size }}`,
  'a text that doubles': `{% assign x = text %}${'{% assign x = x | append: x %}'.repeat(16)}${'{{ x | upcase | downcase | size }}'.repeat(50)}`,
  'expressions over lists':
    '{% assign n = (1..3000) %}{% for i in b %}{{ n | where_exp: "x", "x == 1 and x == 2 and x == 3" | size }}{% endfor %}',
  'dates of many codes': `{% for i in b %}{% for j in b %}{{ "now" | date: "${'%B%A'.repeat(200)}" }}{% endfor %}{% endfor %}`,
  'captures in loops':
    '{% for i in b %}{% for j in b %}{% for k in b %}{% capture c %}{{ text }}{{ text }}{% endcapture %}{% endfor %}{% endfor %}{% endfor %}',
  'cycles in loops': `{% for i in b %}{% for j in b %}{% for k in b %}{% cycle ${'"a",'.repeat(50)}"b" %}{% endfor %}{% endfor %}{% endfor %}`,
  'comments in loops': `{% for i in b %}{% for j in b %}${'x{% comment %}{% endcomment %}'.repeat(300)}{% endfor %}{% endfor %}`,
};

test.each(Object.entries(hostileRenderings))('%s: the mail fails by its steps', (_, source) => {
  const template = prepareTemplate(source, { mode: 'html' });
  expect(template.problem).toBeNull();
  expect(() => renderFully(template, variables, Filled.empty)).toThrow(StepLimitError);
  // Whatever a step of ours is, it stands for a bounded number of steps of the machine.
  const steps = countSteps(() => {
    try {
      renderFully(template, variables, Filled.empty);
    } catch {}
  });
  expect(steps).toBeLessThan(200 * renderLimits.steps);
});

test('the count does not depend on when or where, and a list of two thousand rows stays within it', () => {
  const rows: Variables = buildVariables({
    contact: {
      ...contact,
      data: { rows: Array.from({ length: 2_000 }, (_, i) => ({ name: `n${i}`, price: i, count: 2 })) },
    },
    urls,
  });
  const source =
    '<table>{% for row in rows %}<tr><td>{{ row.name | escape }}</td><td>{{ row.price | times: row.count | round: 2 }}</td>' +
    '<td>{% if row.count > 1 %}{{ row.count }} items{% else %}one{% endif %}</td></tr>{% endfor %}</table>';
  const template = prepareTemplate(source, { mode: 'html' });
  const steps = [0, 1].map(() => renderFully(template, rows, Filled.empty).steps);
  expect(steps[0]).toBe(steps[1]);
  expect(steps[0]).toBeLessThan(renderLimits.steps);
  expect(render(template, rows)).toContain('<td>3998</td><td>2 items</td>');
});

test('a template of too many steps is refused with the place', () => {
  const source = `<p>ok</p>\n${'{{ name }} '.repeat(parseLimits.steps / 10)}`;
  expect(() => parseTemplate(source, { mode: 'html' })).toThrow(TemplateTooLargeError);
  expect(() => parseTemplate(source, { mode: 'html' })).toThrow(/40,000 steps to parse at line 2, column \d+/);
  expect(() => parseTemplate(`${'{% if a %}'.repeat(101)}${'{% endif %}'.repeat(101)}`, { mode: 'html' })).toThrow(
    TemplateSyntaxError,
  );
  expect(parseTemplate(`${'{% if a %}'.repeat(100)}${'{% endif %}'.repeat(100)}`, { mode: 'html' }).problem).toBeNull();
});
