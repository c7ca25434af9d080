import { describe, expect, test } from 'vitest';
import { checkRecord } from '../../../src/domains/records/findings.ts';
import { dnsOf, type Zone } from './zones.ts';

const value = `v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(12)}`;
const name = 'ph1._domainkey.acme-shop.example';
const dkim = { purpose: 'DKIM', type: 'TXT', name, value } as const;

function look(found: Record<string, Zone>, record: Parameters<typeof checkRecord>[2] = dkim) {
  return checkRecord(dnsOf(found), 'acme-shop.example', record);
}

describe('what is found at a record', () => {
  test('a DKIM key that is right, however its text is cut and spaced', async () => {
    expect(await look({ [name]: { TXT: [value] } })).toEqual({ outcome: 'right', text: null });
    const spaced = value.replace('p=MIIB', 'p= MIIB ').replace('k=rsa;', 'k=rsa ;');
    expect(await look({ [name]: { TXT: [spaced] } })).toEqual({ outcome: 'right', text: null });
  });

  test.each([
    ['another key', 'v=DKIM1; k=rsa; p=AAAA', 'found v=DKIM1 with another key'],
    ['a revoked key', 'v=DKIM1; p=', 'found a revoked key ("p=" is empty)'],
    ['a key that was cut short', value.slice(0, 200), 'found the key cut short: set the whole value'],
    [
      'another kind of text',
      'google-site-verification=1',
      'found a TXT record that is no DKIM key: google-site-verification=1',
    ],
  ])('%s', async (_, text, finding) => {
    expect(await look({ [name]: { TXT: [text] } })).toEqual({ outcome: 'wrong', text: finding });
  });

  test('nothing, and a name to which the domain was appended once more', async () => {
    expect(await look({})).toEqual({ outcome: 'missing', text: `no TXT record found at ${name}` });
    expect((await look({ [`${name}.acme-shop.example`]: { TXT: [value] } })).text).toBe(
      `found at ${name}.acme-shop.example: your DNS service appends the domain, so enter "ph1._domainkey" as the name`,
    );
  });

  test('the right key beside another record', async () => {
    expect(await look({ [name]: { TXT: ['v=DKIM1; p=AAAA', value] } })).toEqual({
      outcome: 'right',
      text: '2 records stand at this name: keep only this one',
    });
  });

  test('name servers that fail prove nothing', async () => {
    expect((await look({ [name]: { fails: true } })).outcome).toBe('unknown');
  });

  test('a return path', async () => {
    const at = 'pm-bounces.acme-shop.example';
    const record = { purpose: 'RETURN_PATH', type: 'CNAME', name: at, value: 'pm.mtasv.net' } as const;
    expect((await look({ [at]: { CNAME: 'PM.mtasv.net' } }, record)).outcome).toBe('right');
    expect(await look({ [at]: { CNAME: 'elsewhere.example' } }, record)).toEqual({
      outcome: 'wrong',
      text: 'found a CNAME to elsewhere.example',
    });
  });

  test('a mail exchanger', async () => {
    const at = 'acme-shop.example';
    const record = {
      purpose: 'INBOUND_MX',
      type: 'MX',
      name: at,
      value: 'inbound.postmarkapp.com',
    } as const;
    expect((await look({ [at]: { MX: [{ priority: 5, exchange: 'inbound.postmarkapp.com' }] } }, record)).outcome).toBe(
      'right',
    );
    expect((await look({ [at]: { MX: [{ priority: 5, exchange: 'mx.elsewhere.example' }] } }, record)).text).toBe(
      'mail for this name goes to mx.elsewhere.example',
    );
  });

  test('an SPF policy that includes what it must', async () => {
    const at = 'bounce.acme-shop.example';
    const record = {
      purpose: 'SPF',
      type: 'TXT',
      name: at,
      value: 'v=spf1 include:amazonses.com ~all',
    } as const;
    expect(
      (await look({ [at]: { TXT: ['v=spf1 include:a.example include:amazonses.com -all'] } }, record)).outcome,
    ).toBe('right');
    expect((await look({ [at]: { TXT: ['v=spf1 -all'] } }, record)).text).toBe(
      'found v=spf1 without include:amazonses.com',
    );
  });

  test('any DMARC policy, also that of the domain above', async () => {
    const record = {
      purpose: 'DMARC',
      type: 'TXT',
      name: '_dmarc.acme-shop.example',
      value: 'v=DMARC1; p=none;',
    } as const;
    expect(
      (
        await look(
          { '_dmarc.acme-shop.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@acme-shop.example'] } },
          record,
        )
      ).outcome,
    ).toBe('right');
    const dns = dnsOf({ '_dmarc.acme-shop.example': { TXT: ['v=DMARC1; p=quarantine'] } });
    expect(
      await checkRecord(dns, 'news.acme-shop.example', { ...record, name: '_dmarc.news.acme-shop.example' }),
    ).toEqual({ outcome: 'right', text: 'the policy of acme-shop.example counts for this domain' });
    expect((await look({}, record)).outcome).toBe('missing');
  });
});
