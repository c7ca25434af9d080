import { checkDocument, checkEmail, compileEmail, EmailDocument, plainBrand } from '@fernpost/email-document';
import { buildVariables, deriveText, parseTemplate, renderText } from '@fernpost/renderer';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { families } from '../../../dashboard/src/pages/mail/starters/index.ts';
import { sampleData, sampled } from '../../../dashboard/src/pages/mail/starters/sample.ts';

const starters = families.flatMap((family) => family.starters);

test('there are at least twenty in four families, each with a name and an id of its own', () => {
  expect(families.map(({ name }) => name)).toEqual(['Announce', 'Sell', 'Inform', 'Serve']);
  expect(starters.length).toBeGreaterThanOrEqual(20);
  for (const key of ['id', 'name', 'about'] as const)
    expect(new Set(starters.map((starter) => starter[key])).size).toBe(starters.length);
});

describe.each(starters)('the starter layout $name', ({ document, subject }) => {
  const compiled = compileEmail(document, plainBrand);

  test('fits the schema, and its HTML and subject are Liquid that parses', () => {
    expect(v.parse(EmailDocument, JSON.parse(JSON.stringify(document)))).toEqual(document);
    parseTemplate(compiled, { mode: 'html' });
    parseTemplate(subject, { mode: 'text' });
  });

  test('uses only what mail clients know: tables with the role of presentation, styles inlined', () => {
    expect(compiled).not.toMatch(/display:\s*(?:flex|grid)|position:|float:|<script|<link|<form|var\(--|calc\(/i);
    for (const [table] of compiled.matchAll(/<table\b[^>]*>/g)) expect(table).toContain('role="presentation"');
    for (const [tag] of compiled.matchAll(/<(?:p|h[1-3]|li)\b[^>]*>/g))
      expect(tag).toMatch(/style="[^"]*font-family:[^"]*color:/);
    for (const [tag] of compiled.matchAll(/<a\b[^>]*>/g)) expect(tag).toMatch(/style="[^"]*color:/);
    expect(Buffer.byteLength(compiled)).toBeLessThan(20 * 1024);
  });

  test('holds in Outlook for Windows, which draws as Word does', () => {
    // Dense screens, gaps of tables, fonts and lists, in a comment that no other client reads.
    expect(compiled).toMatch(
      /<!--\[if mso\]><xml>[\s\S]*PixelsPerInch>96<[\s\S]*mso-table-lspace[\s\S]*<!\[endif\]-->/,
    );
    // It ignores max-width, so a table of fixed width is around the mail.
    expect(compiled).toContain('<!--[if mso]><table role="presentation" width="600"');
    expect(compiled.match(/<!--\[if mso\]>/g)?.length).toBe(compiled.match(/<!\[endif\]-->/g)?.length);
    const inlined = compiled.replaceAll(/<style>[\s\S]*?<\/style>/g, '');
    expect(inlined).not.toMatch(
      /[;"](?:background(?:-image)?:[^;"]*url|object-fit|box-shadow|letter-spacing:-|margin:[^;"]*-\d|\w+:rgba?\()/,
    );
    // Colors of cells are attributes too, and a width that an image is to have is one.
    for (const [cell] of compiled.matchAll(/<(?:td|table)\b[^>]*background-color:[^>]*>/g))
      expect(cell).toContain('bgcolor="');
    for (const [image] of compiled.matchAll(/<img\b[^>]*>/g)) {
      expect(image).toMatch(/ (?:width|height)="\d+"/);
      expect(Number(/ width="(\d+)"/.exec(image)?.[1] ?? 0)).toBeLessThanOrEqual(536);
    }
    // The padding of a link is ignored: that of its cell is for it alone.
    for (const [button] of compiled.matchAll(/<td[^>]*><a [^>]*display:inline-block/g))
      expect(button).toMatch(/^<td[^>]*mso-padding-alt:12px 24px/);
    for (const [low] of compiled.matchAll(/<td\b[^>]*line-height:\d+px[^>]*>/g))
      expect(low).toContain('mso-line-height-rule:exactly');
  });

  test('skips no level of headings', () => {
    const levels = [...compiled.matchAll(/<h([1-6])\b/g)].map(([, level]) => Number(level));
    for (const [index, level] of levels.entries()) expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1);
  });

  test('has balanced tags', () => {
    const open: string[] = [];
    const plain = compiled.replaceAll(/<!--.*?-->/gs, '');
    for (const [, close, name = ''] of plain.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/gi)) {
      if (['meta', 'img', 'br'].includes(name)) continue;
      if (close) expect(open.pop()).toBe(name);
      else open.push(name);
    }
    expect(open).toEqual([]);
  });
});

describe.each(starters)('the checks of $name', ({ document, subject, type }) => {
  // A contact's own field; the other variables are sent by the application that sends the mail.
  const sent = type === 'TRANSACTIONAL' ? ['resetUrl', 'inviteUrl', 'invoiceUrl', 'trackingUrl'] : [];
  const known = [
    { name: 'firstName', coverage: 20 },
    { name: 'items' },
    ...[...(type === 'TRANSACTIONAL' ? Object.keys(sampleData) : []), ...sent]
      .filter((name) => name !== 'firstName')
      .map((name) => ({ name })),
  ];

  test('find nothing but the links and pictures that are left to the writer', () => {
    const found = [...checkDocument(document), ...checkEmail(compileEmail(document, plainBrand), known)];
    expect(found.filter(({ message }) => !/has no address/.test(message))).toEqual([]);
    expect(checkEmail(subject, known)).toEqual([]);
  });

  test('find nothing in the picture of it, in which no variable is left, but its links', () => {
    const html = compileEmail(sampled(document), plainBrand);
    expect(html.replaceAll(/href="[^"]*"/g, '')).not.toMatch(/\{[{%]|undefined/);
    expect(html).not.toContain('src=""');
  });
});

test('the text part reads as the mail does', () => {
  const receipt = starters.find(({ id }) => id === 'receipt');
  if (!receipt) throw new Error('no receipt');
  const source = deriveText(parseTemplate(compileEmail(receipt.document, plainBrand), { mode: 'html' }));
  const data = {
    firstName: 'Ada',
    items: [
      { name: 'Pen', price: '€ 2' },
      { name: 'Ink', price: '€ 4' },
    ],
    total: '€ 6',
  };
  const plain =
    source &&
    renderText(
      source,
      buildVariables({
        contact: { id: '1', email: 'ada@acme.test', subscribed: true, data } as never,
        urls: { unsubscribeUrl: 'u', subscribeUrl: 's', manageUrl: 'm' },
      }),
    );
  expect(plain).toMatch(/Hi Ada,[\s\S]*Pen[\s\S]*€ 2[\s\S]*Ink[\s\S]*Total[\s\S]*€ 6[\s\S]*Download the invoice/i);
});
