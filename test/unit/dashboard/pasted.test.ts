import { readFileSync } from 'node:fs';
import { parseDocument } from 'htmlparser2';
import { expect, test } from 'vitest';
import {
  enoughFor,
  isAnimated,
  largestArea,
  movedArea,
  resizedArea,
  shownWidth,
} from '../../../dashboard/src/editor/rules/image-size.ts';
import { cleanPasted, type PastedNode } from '../../../dashboard/src/editor/rules/pasted.ts';

const clean = (html: string, addressOf: (dataUrl: string) => string | null = () => null) =>
  cleanPasted(parseDocument(html).children as PastedNode[], addressOf);
const clipboard = (name: string) => readFileSync(new URL(`clipboard/${name}.html`, import.meta.url), 'utf8');
/** One block a line, to be read. */
const linesOf = (html: string) =>
  html.replace(/(?<=<\/(?:p|h\d|ul|ol|div)>)(?=<(?:p|h\d|ul|ol|div data-block))/g, '\n').split('\n');
const columns = (...cells: string[]) =>
  `<div data-block="columns" data-stack="false">${cells.map((cell) => `<div data-column="">${cell}</div>`).join('')}</div>`;

test('Word 365: headings, links, nested lists and a table stay, and a picture on its disk is lost', () => {
  const { html, lost } = clean(clipboard('word-365'));
  expect(html).toBe(
    [
      '<h1>Bird count</h1>',
      '<p>The <strong>herons</strong> are <em>back</em>, see <a href="https://wattenmeer.test/report">the report</a> and below.</p>',
      '<ul><li><p>Herons</p><ul><li><p>Grey <strong>heron</strong></p><ul><li><p>Young ones</p></li></ul></li></ul></li><li><p>Terns</p></li></ul>',
      '<ol><li><p>Count</p></li><li><p>Report</p></li></ol>',
      columns('<p><strong>Island</strong></p>', '<p style="text-align: right"><strong>Pairs</strong></p>'),
      columns('<p>Hooge</p>', '<p style="text-align: right">412</p>'),
    ].join(''),
  );
  expect(lost).toBe(1);
});

test('Word 2016: markers between comments, line breaks in items, deleted text and numbered headings', () => {
  expect(clean(clipboard('word-2016'))).toEqual({
    html: [
      '<h1>Newsletter</h1>',
      '<p>Dear <u>friends</u>, the Emden office stays.</p>',
      '<ol><li><p>First<br>still first</p><ol><li><p>Nested</p></li></ol></li><li><p>Second</p></li></ol>',
      '<h2>3. Dates</h2>',
    ].join(''),
    lost: 0,
  });
});

test('Google Docs: what is bold is bold, and not the whole text', () => {
  const { html, lost } = clean(clipboard('google-docs'));
  expect(html).toBe(
    [
      '<h2>Bird count</h2>',
      '<p style="text-align: center">The <strong>herons</strong><em> are back</em>: <a href="https://wattenmeer.test/report">report</a></p>',
      '<ul><li><p>Herons</p><ul><li><p>Grey heron</p></li></ul></li><li><p>Terns</p></li></ul>',
      '<ol><li><p>Count</p></li></ol>',
      '<div data-block="image" data-src="&quot;https://lh7-rt.googleusercontent.com/docsz/AD_4nXe?key=abc&quot;" data-alt="&quot;A heron&quot;" data-width="300"></div>',
      columns('<p><strong>Island</strong></p>', '<p>Hooge</p>'),
    ].join(''),
  );
  expect(lost).toBe(0);
});

test('Excel: a table with more columns than an email has becomes HTML of its own, without empty rows', () => {
  const { html } = clean(clipboard('excel'));
  const code = JSON.parse(
    (/^<div data-block="html" data-code="([^"]*)"><\/div>$/.exec(html)?.[1] ?? '')
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  );
  const cells = [...code.matchAll(/<td class="ph-text ph-line" align="(\w+)"[^>]*>(.*?)<\/td>/g)].map(
    ([, align, text]) => `${align} ${text}`,
  );
  expect(code.match(/<tr>/g)).toHaveLength(2);
  expect(cells).toEqual([
    'left <strong>Island</strong>',
    ...['2023', '2024', '2025', '2026'].map((year) => `left ${year}`),
    'left Hooge &amp; Langeness',
    ...['1,204', '1,310', '1,288', '1,402'].map((count) => `right ${count}`),
  ]);
});

test('images in a text stand below it, with an address for those that bring their bytes', () => {
  const bytes = 'data:image/png;base64,AAAA';
  const asked: string[] = [];
  const { html, lost } = clean(
    `<p>Above <img src="${bytes}" alt="Terns" width="9000"> below</p><img src="https://a.test/open.gif" width="1" height="1"><ul><li>One<img src="blob:x"></li><li>Two</li></ul>`,
    (url) => {
      asked.push(url);
      return 'blob:here';
    },
  );
  expect(linesOf(html)).toEqual([
    '<p>Above</p>',
    '<div data-block="image" data-src="&quot;blob:here&quot;" data-alt="&quot;Terns&quot;" data-width="null"></div>',
    '<p>below</p>',
    '<ul><li><p>One</p></li><li><p>Two</p></li></ul>',
  ]);
  expect([asked, lost]).toEqual([[bytes], 1]);
});

test.each([
  ['a frame around text', '<table><tr><td><h3>Moin</h3>Text</td></tr></table>', '<h3>Moin</h3><p>Text</p>'],
  ['a link that runs a script', '<a href="javascript:alert(1)">Run</a>', '<p>Run</p>'],
  ['markup in text', '<p>a &lt;b&gt; &amp; "c"</p>', '<p>a &lt;b&gt; &amp; &quot;c&quot;</p>'],
  ['scripts and styles', '<style>p {}</style><script>x()</script>Text', '<p>Text</p>'],
  [
    'a list whose first item is the deepest',
    '<ul><ul><li>Deep</li></ul><li>Flat</li></ul>',
    '<ul><li><p>Deep</p></li><li><p>Flat</p></li></ul>',
  ],
  ['two texts in one item', '<ul><li><p>One</p><p>more</p></li></ul>', '<ul><li><p>One</p><p>more</p></li></ul>'],
  [
    'Word for the web',
    '<div><ul><li data-aria-level="1" data-listid="3"><p>One</p></li></ul></div><div><ul><li data-aria-level="2" data-listid="3"><p>Two</p></li></ul></div>',
    '<ul><li><p>One</p><ul><li><p>Two</p></li></ul></li></ul>',
  ],
  ['a line', '<p>a</p><hr><p>b</p>', '<p>a</p><div data-block="divider"></div><p>b</p>'],
])('%s', (_, html, cleaned) => {
  expect(clean(html).html).toBe(cleaned);
});

test('a crop stays within the image and keeps its ratio', () => {
  const size = { width: 1600, height: 900 };
  const square = largestArea(size, 1);
  expect(square).toEqual({ x: 350, y: 0, width: 900, height: 900 });
  expect(movedArea(square, size, 5000, -20)).toEqual({ ...square, x: 700, y: 0 });
  expect(resizedArea(square, size, -100, 0, 1)).toEqual({ ...square, width: 800, height: 800 });
  expect(resizedArea(square, size, 500, 500, 1)).toEqual(square);
  expect(resizedArea(square, size, 500, -100, null)).toEqual({ ...square, width: 1250, height: 800 });
  expect(resizedArea(square, size, -5000, -5000, null)).toMatchObject({ width: 16, height: 16 });
});

test('an image has twice the pixels of the width that it is shown in, and is never shown larger than it is', () => {
  expect(enoughFor({ width: 4000, height: 3000 }, 536)).toEqual({ width: 1072, height: 804 });
  expect(enoughFor({ width: 900, height: 600 }, 536)).toEqual({ width: 900, height: 600 });
  expect([shownWidth(4000, 536), shownWidth(300, 536), shownWidth(1, 536)]).toEqual([536, 300, null]);
});

test('images that move are known by their first bytes', async () => {
  const of = (type: string, start: string) => isAnimated(new Blob([Buffer.from(start, 'latin1')], { type }));
  expect(
    await Promise.all([
      of('image/gif', 'GIF89a'),
      of('image/png', '\x89PNG....acTL'),
      of('image/webp', 'RIFF....WEBPVP8X....\x02'),
      of('image/png', '\x89PNG....IDAT'),
      of('image/webp', 'RIFF....WEBPVP8X....\x10'),
      of('image/jpeg', '\xff\xd8acTL'),
    ]),
  ).toEqual([true, true, true, false, false, false]);
});
