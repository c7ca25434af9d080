import { describe, expect, test } from 'vitest';
import { adviseDmarc, findDmarc } from '../../../src/domains/records/dmarc.ts';
import { dnsOf } from './zones.ts';

const domain = 'news.acme-shop.example';
const at = `_dmarc.${domain}`;
const reports = 'rua=mailto:dmarc@acme-shop.example';

/** What is said of the records at these names. */
async function advised(found: Record<string, string[]>, hasDkim = true) {
  const dns = dnsOf(Object.fromEntries(Object.entries(found).map(([name, TXT]) => [name, { TXT }])));
  return adviseDmarc(await findDmarc(dns, domain), { domain, hasDkim });
}
const codes = ({ advice }: Awaited<ReturnType<typeof advised>>) => advice.map(({ code }) => code);

describe('advice by the DMARC record that is found', () => {
  test.each<[string, string[], string[], string | null]>([
    ['none', [], ['MISSING', 'ALIGNED'], `v=DMARC1; p=none; rua=mailto:dmarc@${domain}`],
    ['another text alone', ['google-site-verification=1'], ['MISSING', 'ALIGNED'], null],
    ['p=none', [`v=DMARC1; p=none; ${reports}`], ['NONE', 'ALIGNED'], `v=DMARC1; p=quarantine; ${reports}`],
    ['p=none without reports', ['v=DMARC1;p=none'], ['NONE', 'NO_REPORTS', 'ALIGNED'], 'v=DMARC1; p=quarantine'],
    [
      'p=quarantine',
      [`v=DMARC1; p=quarantine; ${reports}`],
      ['QUARANTINE', 'ALIGNED'],
      `v=DMARC1; p=reject; ${reports}`,
    ],
    ['p=reject', [`v=DMARC1; p=reject; ${reports}`], ['REJECT', 'ALIGNED'], null],
    ['no policy', [`v=DMARC1; ${reports}`], ['INVALID', 'ALIGNED'], `v=DMARC1; p=none; ${reports}`],
    ['an unknown policy', [`v=DMARC1; p=block; ${reports}`], ['INVALID', 'ALIGNED'], `v=DMARC1; p=none; ${reports}`],
    ['two records', [`v=DMARC1; p=none; ${reports}`, `v=DMARC1; p=reject; ${reports}`], ['SEVERAL'], null],
    ['an address without mailto', ['v=DMARC1; p=reject; rua=me@acme-shop.example'], ['BAD_REPORTS'], null],
    ['reports elsewhere', ['v=DMARC1; p=reject; rua=mailto:x@reports.test!10m'], ['REPORTS_ELSEWHERE', 'REJECT'], null],
    ['a part of the mail', [`v=DMARC1; p=reject; pct=20; ${reports}`], ['SHARE', 'REJECT'], null],
    ['strict SPF', [`v=DMARC1; p=reject; aspf=s; ${reports}`], ['STRICT_SPF', 'REJECT', 'ALIGNED'], null],
  ])('%s', async (_, texts, expected, value) => {
    const found = await advised({ [at]: texts });
    expect(codes(found)).toEqual(expect.arrayContaining(expected));
    expect(codes(found)[0]).toBe(expected[0]);
    if (value !== null) expect(found.advice[0]?.value).toBe(value);
  });

  test('a subdomain has the policy for subdomains of the domain above', async () => {
    const found = await advised({ '_dmarc.acme-shop.example': [`v=DMARC1; p=reject; sp=none; ${reports}`] });
    expect(found).toMatchObject({
      inheritedFrom: 'acme-shop.example',
      policy: 'none',
      name: '_dmarc.acme-shop.example',
    });
    expect(codes(found)).toContain('NONE');
    const own = await advised({
      '_dmarc.acme-shop.example': ['v=DMARC1; p=none'],
      [at]: [`v=DMARC1; p=reject; ${reports}`],
    });
    expect(own).toMatchObject({ inheritedFrom: null, policy: 'reject' });
  });

  test('without DKIM nothing is aligned, and that comes first', async () => {
    const found = await advised({ [at]: [`v=DMARC1; p=reject; ${reports}`] }, false);
    expect(codes(found)[0]).toBe('NOT_ALIGNED');
  });

  test('a name server that fails is no missing record', async () => {
    const dns = dnsOf({ [at]: { fails: true } });
    expect(await findDmarc(dns, domain)).toMatchObject({ isAnswered: false, records: [] });
  });
});
