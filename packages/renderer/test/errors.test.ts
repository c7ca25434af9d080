import { expect, test } from 'vitest';
import { TemplateSyntaxError } from '../src/nodes.ts';
import { parseTemplate, prepareTemplate } from '../src/parse.ts';
import { render, renderFully } from '../src/render.ts';
import { Filled } from '../src/values.ts';
import { variablesOf } from './arbitraries.ts';

function problemOf(source: string): TemplateSyntaxError {
  try {
    parseTemplate(source, { mode: 'html' });
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return error;
    throw error;
  }
  throw new Error(`parsed: ${source}`);
}

test.each([
  ['<p>\n  {{ name', 2, 3, /not closed/],
  ['{{a ?? b}}\n{% if name %}', 2, 1, /not closed/],
  ['{% if a %}\n\n {% endfor %}', 3, 2, /endfor/],
  ['Hi {{first name}}\n{{ name | upcse }}', 2, 1, /Unknown filter "upcse"/],
  ['x {% include "footer" %}', 1, 3, /"include" is not available/],
  ['{% render "a" %}', 1, 1, /"render" is not available/],
  ['{% layout "a" %}', 1, 1, /"layout" is not available/],
  ['{% block a %}{% endblock %}', 1, 1, /"block" is not available/],
  ['{% frob %}', 1, 1, /"frob" not found/],
  ['{{#if name}}yes{{/if}}', 1, 1, /invalid value expression/i],
  ['{{{name}}}', 1, 1, /invalid value expression/i],
  ['{{ name &quot; }}', 1, 1, /quote is not closed/],
  ['{% raw %}{{ x }}', 1, 1, /"{% raw %}" is not closed/],
  ['{% for in list %}{% endfor %}', 1, 1, /illegal tag/i],
])('%j is refused at line %i, column %i', (source, line, column, reason) => {
  const problem = problemOf(source);
  expect(problem).toMatchObject({ line, column });
  expect(problem.reason).toMatch(reason);
  expect(problem.message).toContain(`line ${line}, column ${column}`);
});

test('a place is told in the source as written, behind rewritten parts', () => {
  const problem = problemOf('{{ first name ?? &quot;you&quot; }}{{a}}\n &lt; {% unknown %}');
  expect(problem).toMatchObject({ line: 2, column: 7 });
});

test('a template of more than 2,000,000 characters and one that nests without end are refused', () => {
  expect(problemOf('x'.repeat(2_000_001)).reason).toMatch(/longer than 2,000,000/);
  expect(parseTemplate('x'.repeat(2_000_000), { mode: 'text' }).problem).toBeNull();
  expect(problemOf('{% if a %}'.repeat(50_000)).reason).toMatch(/nested too deeply/);
});

test('a template that does not parse is sent with its plain placeholders filled in', () => {
  const template = prepareTemplate(
    '{{name}} {{ first name ?? "you" }} {{missing ?? there}} {{x.y}} {{ name | upcase }} {% if %}',
    { mode: 'text' },
  );
  expect(template.problem).toBeInstanceOf(TemplateSyntaxError);
  expect(render(template, variablesOf({ name: 'Ada', 'first name': 'A', x: { y: 1 } }))).toBe(
    'Ada A there 1 {{ name | upcase }} {% if %}',
  );
});

test('a template that writes more than 10 MB is filled in plainly, and says so', () => {
  const long = '{{name}}{% for a in list %}{{big}}{% endfor %}';
  const huge = renderFully(
    prepareTemplate(long, { mode: 'html' }),
    variablesOf({ name: 'Ada', big: 'x'.repeat(100_000), list: Array.from({ length: 200 }, (_, i) => i) }),
    Filled.empty,
  );
  expect(huge.problem).toMatch(/10 MB/);
  expect(String(huge.text).startsWith('Ada{% for')).toBe(true);

  const captured = prepareTemplate('{% capture x %}{% for a in (1..1000) %}{{big}}{% endfor %}{% endcapture %}', {
    mode: 'html',
  });
  expect(renderFully(captured, variablesOf({ big: 'x'.repeat(100_000) }), Filled.empty).problem).toMatch(/10 MB/);
});

test('no template throws while it renders', () => {
  for (const source of [
    '{{ x | date: "%Y", "No/Zone" }}',
    '{{ x | base64_decode }}',
    '{{ x | where: "[" }}',
    '{{ x | append }}',
    '{% for i in (1..x) %}{% endfor %}',
    '{{ x | group_by_exp: "i", "i |" }}',
  ])
    expect(typeof render(prepareTemplate(source, { mode: 'html' }), variablesOf({ x: '*' })), source).toBe('string');
});
