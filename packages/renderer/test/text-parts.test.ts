import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layOut, layOutWithin, marks } from '../src/text-layout.ts';
import { layOutParts } from '../src/text-layout-parts.ts';
import { Filled, Literal } from '../src/values.ts';

const { block, paragraph, lineBreak, link, linkTarget, linkEnd, item, list, numberedList, listEnd } = marks;

const word = fc.constantFrom('Dear', 'Ada', 'Łódź', 'a b', '\u00a0', '*', '(x)', '\n', 'https://acme.test/?a=1');
const edges = fc.constantFrom(
  ' ',
  '  ',
  block,
  paragraph,
  lineBreak,
  `${block} `,
  `${lineBreak}${lineBreak}${lineBreak}`,
);
const lists = fc.constantFrom(
  `${paragraph}${list}${block}${item}`,
  `${paragraph}${numberedList}${block}${item}`,
  `${block}${item}`,
  `${block}${listEnd}${paragraph}`,
);
const links = fc.constantFrom(`${link}walk${linkTarget}https://acme.test${linkEnd}`, link, linkTarget, linkEnd);
const value = fc.constantFrom(
  '',
  ' ',
  'Ada',
  ' Ada ',
  'a  b',
  'mailto:a@acme.test?x',
  '#top',
  'https://acme.test/?a=1',
  `${lineBreak} x`,
);

const literal = fc
  .array(fc.oneof({ weight: 4, arbitrary: word }, { weight: 4, arbitrary: edges }, lists, links), { maxLength: 7 })
  .map((texts) => texts.join(''))
  // As a derived template has its literals; and as they were before, which must not matter.
  .chain((text) => fc.constantFrom(text, layOutWithin(text)))
  .map((text) => new Literal(text));

function filled(parts: readonly (Literal | string)[]): Filled {
  const texts = parts.map((part) => (typeof part === 'string' ? part : part.text));
  return new Filled(parts, texts.join('').length);
}

test('a text laid out in parts reads as when it is laid out whole, and tells its length', () => {
  let inParts = 0;
  const runs = Number(process.env.RUNS ?? 5000);
  fc.assert(
    fc.property(fc.array(fc.oneof(literal, value), { maxLength: 8 }), (parts) => {
      const marked = filled(parts);
      // No HTML ends a list that it has not begun.
      fc.pre(!String(marked).includes(listEnd) || String(marked).includes(item));
      const laidOut = layOutParts(marked);
      expect(String(laidOut)).toBe(layOut(String(marked)));
      expect(laidOut.length).toBe(String(laidOut).length);
      if (laidOut.parts.length > 1) inParts += 1;
    }),
    { numRuns: runs },
  );
  expect(inParts).toBeGreaterThan(runs / 10);
});

test('links whose addresses are values, lists and edges that meet around a missing value stay in parts', () => {
  const to = (address: string) => [
    new Literal(`${link}Your page${linkTarget}`),
    address,
    new Literal(`${linkEnd}${paragraph}`),
  ];
  const parts = [
    new Literal(`${paragraph}Dear `),
    'Ada',
    new Literal(`,${paragraph}${list}${block}${item}one${block} ${block}${item}`),
    '',
    new Literal(`two${block}${listEnd}${paragraph} `),
    '',
    new Literal(` ${block}`),
    ...to('https://acme.test/1'),
    ...to('#here'),
    ...to('mailto:ada@acme.test?subject=x'),
  ];
  const laidOut = layOutParts(filled(parts));
  expect(String(laidOut)).toBe(
    'Dear Ada,\n\n* one\n* two\n\nYour page (https://acme.test/1)\n\nYour page\n\nYour page (ada@acme.test)',
  );
  expect(laidOut.parts.length).toBeGreaterThan(10);
});
