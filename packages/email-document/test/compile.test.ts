import { readFileSync } from 'node:fs';
import { buildVariables, deriveText, parseTemplate, render, renderText } from '@fernpost/renderer';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { type Brand, compileEmail, EmailDocument, networks, plainBrand } from '../src/index.ts';

const contact = (data: Record<string, unknown>) => ({ id: '1', email: 'ada@acme.test', subscribed: true, data });
const variablesOf = (data: Record<string, unknown>) =>
  buildVariables({ contact: contact(data) as never, urls: { unsubscribeUrl: 'u', subscribeUrl: 's', manageUrl: 'm' } });
const html = (content: unknown[], brand: Brand = plainBrand, preheader = '') =>
  compileEmail(v.parse(EmailDocument, { version: 1, preheader, content }), brand);
const filled = (content: unknown[], data: Record<string, unknown> = {}) =>
  render(parseTemplate(html(content), { mode: 'html' }), variablesOf(data));
const text = (value: string, marks?: unknown[]) => ({ type: 'text', text: value, ...(marks ? { marks } : {}) });
const p = (...content: unknown[]) => ({ type: 'paragraph', content });
const variable = (name: string, fallback = '') => ({ type: 'variable', attrs: { name, fallback } });

test('text is escaped, and Liquid that somebody typed stays as it is', () => {
  expect(html([p(text('a < b & {{ firstName ?? "you" }} > c'))])).toContain(
    'a &lt; b &amp; {{ firstName ?? "you" }} &gt; c',
  );
});

test('a variable has its fallback, whatever signs are in it, and values are escaped', () => {
  const mail = [p(text('Hi '), variable('firstName', 'dear "friend" {{x}} | y'), text('!'))];
  expect(filled(mail, { firstName: '<b>Ada</b>' })).toContain('Hi &lt;b&gt;Ada&lt;/b&gt;!');
  expect(filled(mail)).toMatch(/Hi dear "friend" +x +y!/);
  expect(filled([p(variable('team', 'R&D <b>'))])).toContain('R&amp;D &lt;b&gt;');
  expect(
    filled([p(variable("user's name"), variable('first name'))], { 'first name': 'Ada', "user's name": 'al' }),
  ).toContain('alAda');
});

test.each([
  ['exists', '', { plan: 'pro' }, {}],
  ['missing', '', {}, { plan: 'pro' }],
  ['equals', 'pro', { plan: 'pro' }, { plan: 'free' }],
  ['equals', '5', { plan: 5 }, { plan: 6 }],
  ['equals', '5', { plan: '5' }, {}],
  ['equals', 'true', { plan: true }, { plan: false }],
  ['notEquals', 'pro', { plan: 'free' }, { plan: 'pro' }],
  ['contains', 'r', { plan: 'pro' }, { plan: 'abc' }],
  ['greaterThan', '3', { plan: 4 }, { plan: 3 }],
  ['lessThan', '3', { plan: 2 }, { plan: 3 }],
])('a block shown where plan %s %s', (operator, value, shown, hidden) => {
  const block = { type: 'conditional', attrs: { variable: 'plan', operator, value }, content: [p(text('Shown'))] };
  expect(filled([block], shown)).toContain('Shown');
  expect(filled([block], hidden)).not.toContain('Shown');
});

test('columns lie on a tinted panel where they are to stand out, for Outlook by bgcolor, and stay readable in the dark', () => {
  const columns = (attrs?: object) =>
    html([{ type: 'columns', attrs, content: [{ type: 'column', content: [p(text('SAVE20'))] }] }]);
  expect(columns({ stack: true, panel: true })).toMatch(
    /<td class="ph-panel" bgcolor="#f4f4f5" style="[^"]*"><table[\s\S]*SAVE20/,
  );
  for (const plain of [columns(), columns({ stack: false }), columns({ stack: true, panel: false })])
    expect(plain).not.toContain('class="ph-panel"');
  expect(columns()).toMatch(/prefers-color-scheme: dark[\s\S]*\.ph-panel \{ background-color: #27272b/);
});

test('a block is repeated for each item of a list, up to its limit', () => {
  const block = {
    type: 'repeat',
    attrs: { list: 'items', item: 'item', limit: 2 },
    content: [p(variable('item.name'))],
  };
  const mail = filled([block], { items: [{ name: 'Pen' }, { name: 'Ink' }, { name: 'Paper' }] });
  expect([mail.includes('Pen'), mail.includes('Ink'), mail.includes('Paper')]).toEqual([true, true, false]);
});

test('the brand is in logo, colors, font and footer, and text on a button can be read', () => {
  const brand: Brand = {
    logoUrl: 'https://acme.test/logo.png',
    logoAlt: 'Acme',
    primaryColor: '#ffe066',
    textColor: '#222222',
    backgroundColor: '#fafafa',
    font: 'Georgia',
    footer: 'Acme & friends\nSecond line',
    postalAddress: '1 Main Street, Springfield',
  };
  const mail = html(
    [{ type: 'button', attrs: { label: 'Go', href: 'https://acme.test', align: 'center' } }],
    brand,
    'Behind',
  );
  for (const part of [
    'src="https://acme.test/logo.png" alt="Acme"',
    'bgcolor="#ffe066"',
    'color:#111827;text-decoration:none',
    "font-family:Georgia,'Times New Roman',serif",
    'Acme &amp; friends<br>Second line',
    '1 Main Street',
    '>Behind',
  ])
    expect(mail).toContain(part);
});

test.each([
  ['a script for a link', [p(text('x', [{ type: 'link', attrs: { href: ' JavaScript:alert(1)' } }]))]],
  ['a variable that is no name', [p(variable('a }} {% x'))]],
  ['an unknown block', [{ type: 'iframe', attrs: {} }]],
  ['a color of the future', [{ type: 'spacer', attrs: { height: 4000 } }]],
  ['a block that is none', [null, 'x']],
  [
    'too deep a nesting',
    [
      Array.from({ length: 60 }).reduce(
        (inner) => ({ type: 'conditional', attrs: { variable: 'a', operator: 'exists' }, content: [inner] }),
        p(),
      ),
    ],
  ],
  ['too much', [p(text('x'.repeat(100_001)))]],
])('a document with %s is refused', (_, content) => {
  expect(v.safeParse(EmailDocument, { version: 1, content }).success).toBe(false);
});

test('social links are icons that say their names where images are blocked, and words without a place for icons', () => {
  const links = networks.map((network) => ({ network, href: `https://acme.test/${network}` }));
  const document = v.parse(EmailDocument, { version: 1, content: [{ type: 'social', attrs: { links } }] });
  const icons = compileEmail(document, plainBrand, 'https://mail.acme.test/brand/icons');
  for (const network of networks) {
    const name = `${network.toLowerCase()}.png`;
    expect(icons).toContain(`<img src="https://mail.acme.test/brand/icons/${name}" alt="${network}" width="32"`);
    // PNG, 96 pixels wide and high.
    const image = readFileSync(new URL(`../icons/${name}`, import.meta.url));
    expect([image.toString('latin1', 1, 4), image.readUInt32BE(16), image.readUInt32BE(20)]).toEqual(['PNG', 96, 96]);
  }
  const source = deriveText(parseTemplate(icons, { mode: 'html' }));
  expect(source && renderText(source, variablesOf({}))).toContain('LinkedIn');
  expect(compileEmail(document, plainBrand)).not.toContain('<img');
});
