import fc from 'fast-check';
import { expect, test } from 'vitest';
import { prepareTemplate } from '../src/parse.ts';
import { render, renderByLiquid, renderFully } from '../src/render.ts';
import { filledBy } from '../src/run.ts';
import { htmlToText } from '../src/text-layout.ts';
import { deriveText, renderText } from '../src/text-part.ts';
import { Filled } from '../src/values.ts';
import { someTemplate, someTexts, someVariables, variablesOf } from './arbitraries.ts';

const RUNS = Number(process.env.RUNS ?? 400);

const inText = { text: fc.constantFrom('Hi ', ', ', '\n', ' <b> ', '-'), around: (inside: string) => inside };

const element = fc.constantFrom(
  '<p>Dear </p>',
  '<br>',
  ' and ',
  '<div> box </div>',
  '<a href="https://example.com/?a=1&amp;b=2">link</a>',
  '<a href="{{ url }}">{{ name }}</a>',
  '<a href="https://example.com/{{ name }}">{{ plan ?? more }}</a>',
  '<li>point</li>',
  '<ol><li>one</li><li>{{ name }}</li></ol>',
  '<td style="color: {{ plan }}">cell</td>',
  '<img alt="{{ name }}" src="x.png">',
  '<!-- {{ name }} -->',
  '&nbsp;&amp; ',
  '<table><tr><td>{{ n }}</td><td>b</td></tr></table>',
);
const inHtml = { text: element, around: (inside: string) => `<div>${inside}</div>`, everything: true };

for (const mode of ['html', 'text'] as const) {
  test(`a compiled template reads as liquidjs renders it (${mode})`, () => {
    let compiled = 0;
    fc.assert(
      fc.property(
        someTemplate({ ...inText, everything: false }),
        someVariables,
        fc.boolean(),
        (source, variables, escapeValues) => {
          const { body, problem } = prepareTemplate(source, { mode, escapeValues });
          if (body === null) throw problem;
          if (body.program !== null) compiled += 1;
          expect(render(prepareTemplate(source, { mode, escapeValues }), variables)).toBe(
            String(filledBy(renderByLiquid(body, variables, Filled.empty))),
          );
        },
      ),
      { numRuns: RUNS },
    );
    expect(compiled).toBeGreaterThan(RUNS / 2);
  });
}

test('nothing a stranger wrote becomes markup, by whatever way it goes through a template', () => {
  fc.assert(
    fc.property(
      someTemplate({ ...inText, text: fc.constantFrom('a', ' '), everything: true }),
      someTexts,
      (source, data) => {
        fc.pre(!/raw|br|capture|replace/.test(source));
        expect(
          render(prepareTemplate(source, { mode: 'html' }), variablesOf(data)).replace(/<\/?li>/g, ''),
        ).not.toMatch(/[<>]/);
      },
    ),
    { numRuns: RUNS },
  );
});

test('the derived text of a message is the text of its HTML', () => {
  let derivedRuns = 0;
  fc.assert(
    fc.property(someTemplate(inHtml), someVariables, (source, variables) => {
      const template = prepareTemplate(source, { mode: 'html' });
      const rendered = renderFully(template, variables, Filled.empty);
      const derived = deriveText(template);
      const text = derived && renderText(derived, variables);
      if (text === null || rendered.insertedMarkup) return;
      derivedRuns += 1;
      expect(text).toBe(htmlToText(String(rendered.text)));
    }),
    { numRuns: RUNS },
  );
  expect(derivedRuns).toBeGreaterThan(RUNS / 5);
});
