import { createHmac } from 'node:crypto';
import { headerPrefix } from '@fernpost/earlier-name';
import { parseTemplate } from '@fernpost/renderer';
import { expect, test } from 'vitest';
import { footerSource } from '../../../src/lib/texts/footer.ts';
import { chooseLanguage, languages } from '../../../src/lib/texts/pages.ts';
import { contentCache } from '../../../src/templates/content/cache.ts';
import { outgoingHeaders } from '../../../src/templates/content/document.ts';
import { linkToken, recipientLinks, tracksEmail, verifyLinkToken } from '../../../src/templates/content/links.ts';
import type { ContentSource } from '../../../src/templates/content/prepare.ts';

const contactId = '0190a1f4-0000-7000-8000-000000000001';

test('a link token is the first 16 bytes of the HMAC over v1 and the contact, and only the contact’s own verifies', () => {
  const token = linkToken(contactId, 'secret');
  expect(token).toBe(
    createHmac('sha256', 'secret').update(`v1:${contactId}`).digest().subarray(0, 16).toString('base64url'),
  );
  expect(verifyLinkToken(contactId, token, 'secret')).toBe(true);
  for (const wrong of [
    linkToken('other', 'secret'),
    linkToken(contactId, 'other'),
    token.slice(0, -1),
    `${token}A`,
    '',
    undefined,
    [token],
    7,
  ])
    expect(verifyLinkToken(contactId, wrong, 'secret'), String(wrong)).toBe(false);
});

test('links name the contact, the message when it has a row, and the token', () => {
  const settings = { pagesUrl: 'https://pages.example', apiUrl: 'https://api.example', secret: 's' };
  const t = linkToken(contactId, 's');
  expect(recipientLinks(settings, contactId, 'e-1')).toEqual({
    unsubscribeUrl: `https://pages.example/unsubscribe/${contactId}?e=e-1&t=${t}`,
    subscribeUrl: `https://pages.example/subscribe/${contactId}?e=e-1&t=${t}`,
    manageUrl: `https://pages.example/manage/${contactId}?e=e-1&t=${t}`,
    oneClickUrl: `https://api.example/unsubscribe/${contactId}?e=e-1&t=${t}`,
  });
  expect(recipientLinks(settings, contactId, null).manageUrl).toBe(`https://pages.example/manage/${contactId}?t=${t}`);
});

const marketing = { messageClass: 'MARKETING', isCampaign: true, oneClickUrl: 'https://u.example' } as const;
const asObject = (headers: { name: string; value: string }[]) =>
  Object.fromEntries(headers.map(({ name, value }) => [name, value]));

test('a caller’s header takes the place of the default of that name in any letter case', () => {
  const headers = outgoingHeaders({ ...marketing, custom: { precedence: 'list', 'X-Own': 'a', 'x-own': 'b' } });
  expect(asObject(headers)).toMatchObject({
    precedence: 'list',
    'x-own': 'b',
    'List-Unsubscribe': '<https://u.example>',
  });
  expect(headers).toHaveLength(6);
});

test.each(['list-unsubscribe', 'List-Unsubscribe-POST'])('whoever sets %s owns the pair', (name) => {
  const names = outgoingHeaders({ ...marketing, custom: { [name]: 'x' } }).map((header) => header.name);
  expect(names.filter((one) => one.toLowerCase().startsWith('list-unsubscribe'))).toEqual([name]);
});

test('headers that the service or the provider owns are dropped', () => {
  const own = [
    'From',
    'TO',
    'cc',
    'Bcc',
    'Subject',
    'Reply-To',
    'Return-Path',
    'Sender',
    'Date',
    'Message-ID',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
    'DKIM-Signature',
    'Received',
    'X-Fernpost-Test',
    `${headerPrefix}test`,
    'X-PM-Tag',
    'X-SES-Configuration-Set',
    'X-SES-SOURCE-ARN',
    'X-Mailgun-Variables',
    'X-SMTPAPI',
    'ARC-Seal',
    'ARC-Authentication-Results',
    'Authentication-Results',
    'Received-SPF',
    'Resent-To',
    'Resent-From',
  ];
  const custom = Object.fromEntries([...own, 'References'].map((name) => [name, 'x']));
  expect(outgoingHeaders({ messageClass: 'TRANSACTIONAL', isCampaign: false, oneClickUrl: null, custom })).toEqual([
    { name: 'References', value: 'x' },
  ]);
});

test.each([
  [null, 'ENABLED', 'TRANSACTIONAL', true],
  [null, 'DISABLED', 'MARKETING', false],
  [null, 'MARKETING_ONLY', 'MARKETING', true],
  [null, 'MARKETING_ONLY', 'HEADLESS', true],
  [null, 'MARKETING_ONLY', 'TRANSACTIONAL', false],
  [false, 'ENABLED', 'MARKETING', false],
  [true, 'DISABLED', 'TRANSACTIONAL', true],
] as const)('with override %s and mode %s, %s mail is tracked: %s', (override, mode, messageClass, expected) => {
  expect(tracksEmail({ override, mode, messageClass })).toBe(expected);
});

test('the footer exists in all fourteen languages, each its own', () => {
  const footers = languages.map((language) => footerSource(language, 'Acme'));
  expect(new Set(footers).size).toBe(14);
  for (const footer of footers) {
    expect(parseTemplate(footer, { mode: 'html' }).problem).toBeNull();
    expect(footer).toContain('Acme');
    expect(footer).not.toContain('{project}');
    expect(footer.match(/<a data-pm-no-track href="{{ (unsubscribe|manage)Url }}"/g)).toHaveLength(2);
  }
});

test.each([
  [['pt-BR', 'de'], 'pt'],
  [['EN_us'], 'en'],
  [['xx', 'bg'], 'bg'],
  [[null, undefined, ''], 'en'],
  [['zh-Hant-TW'], 'zh-TW'],
  [['zh-HK'], 'zh-HK'],
  [['zh-Hans-CN'], 'zh-CN'],
  [['constructor', 'hi-IN'], 'hi'],
])('of %j the language is %s', (wishes, expected) => {
  expect(chooseLanguage(...wishes)).toBe(expected);
});

const source = (body: string): ContentSource => ({
  subject: 's',
  body,
  messageClass: 'TRANSACTIONAL',
  projectName: 'P',
  language: 'en',
  escapeContactData: true,
});
const links = { pagesUrl: 'https://p.example', apiUrl: 'https://a.example', secret: 's' };

test('content is prepared once, and again when anything it depends on differs', () => {
  const prepare = contentCache(links);
  const first = prepare(source('a'));
  const others = [
    source('b'),
    { ...source('a'), subject: 't' },
    { ...source('a'), messageClass: 'MARKETING' as const },
    { ...source('a'), projectName: 'Q' },
    { ...source('a'), language: 'de' },
    { ...source('a'), escapeContactData: false },
    { ...source('a'), isTest: true },
  ].map(prepare);
  expect(new Set([first, ...others]).size).toBe(8);
  expect(prepare(source('a'))).toBe(first);
  expect(prepare(source('a'))).toBe(first);
});

test('the cache lets go of what was unused for longest, and keeps nothing larger than itself', () => {
  const prepare = contentCache(links, 3 * (4_096 + 16 * 2));
  const a = prepare(source('a'));
  const b = prepare(source('b'));
  prepare(source('c'));
  expect(prepare(source('a'))).toBe(a);
  prepare(source('d'));
  expect(prepare(source('a'))).toBe(a);
  expect(prepare(source('b'))).not.toBe(b);
  const large = 'x'.repeat(1_000);
  const big = prepare(source(large));
  prepare(source('a'));
  expect(prepare(source(large))).not.toBe(big);
});
