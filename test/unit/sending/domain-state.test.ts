import { describe, expect, test } from 'vitest';
import type { ProviderDomain } from '../../../src/domains/providers/mailer.ts';
import type { DnsFinding } from '../../../src/domains/records/findings.ts';
import { type DomainState, firstState, nextState } from '../../../src/domains/state.ts';

const key = {
  purpose: 'DKIM',
  type: 'TXT',
  name: 'ph1._domainkey.acme.test',
  value: 'k=rsa; p=AAAA',
  priority: null,
} as const;
const path = {
  purpose: 'RETURN_PATH',
  type: 'CNAME',
  name: 'pm-bounces.acme.test',
  value: 'pm.mtasv.net',
  priority: null,
} as const;
const word = (state: ProviderDomain['state']): ProviderDomain => ({
  providerId: '7',
  state,
  tokens: ['ph1'],
  records: [
    { ...key, verified: state === 'Success' },
    { ...path, verified: false },
  ],
});
const pending = firstState('acme.test', word('Pending'));
const verified: DomainState = { ...pending, verified: true, wasVerified: true, status: 'Success' };
const found = (outcome: DnsFinding['outcome']): DnsFinding[] => [
  { outcome, text: outcome === 'right' ? null : outcome },
  { outcome: 'missing', text: 'missing' },
  { outcome: 'missing', text: 'missing' },
];
const byDns = (before: DomainState, outcome: DnsFinding['outcome'], scheduled = true) =>
  nextState(before, { scheduled, provider: null, findings: found(outcome) });

describe('what a check makes of a domain', () => {
  test('only DKIM is required', () => {
    expect(pending.records.map(({ purpose, required }) => [purpose, required])).toEqual([
      ['DKIM', true],
      ['RETURN_PATH', false],
      ['DMARC', false],
    ]);
    expect(byDns(pending, 'right')).toMatchObject({ verified: true, status: 'Success' });
  });

  test('the provider decides about a domain that was never verified, whatever our name servers say', () => {
    const seen = (state: ProviderDomain['state'], outcome: DnsFinding['outcome']) =>
      nextState(pending, { scheduled: true, provider: word(state), findings: found(outcome) });
    expect(seen('Success', 'missing')).toMatchObject({ verified: true, status: 'Success' });
    expect(seen('Success', 'missing').records[0]).toMatchObject({ status: 'verified', finding: null });
    expect(seen('Pending', 'right')).toMatchObject({ verified: false, status: 'Pending' });
    expect(seen('Failed', 'missing')).toMatchObject({ verified: false, status: 'Failed' });
    expect(
      nextState({ ...pending, status: 'Failed' }, { scheduled: true, provider: word('Pending'), findings: null }),
    ).toMatchObject({
      status: 'Pending',
    });
  });

  test('a verified domain is lost at the third scheduled check in a row that finds nothing', () => {
    const once = byDns(verified, 'missing');
    const twice = byDns(once, 'wrong');
    expect([once, twice].map(({ verified, status, misses }) => [verified, status, misses])).toEqual([
      [true, 'Success', 1],
      [true, 'Success', 2],
    ]);
    expect(byDns(twice, 'missing')).toMatchObject({ verified: false, status: 'Failed', misses: 0 });
    expect(byDns(twice, 'right')).toMatchObject({ verified: true, misses: 0 });
  });

  test('checks that people ask for, and name servers that are silent, never count against a verified domain', () => {
    const twice = { ...verified, misses: 2 };
    expect(byDns(twice, 'missing', false)).toMatchObject({ verified: true, status: 'Success', misses: 2 });
    expect(byDns(twice, 'unknown')).toMatchObject({ verified: true, status: 'Success', misses: 2 });
  });

  test('silence about a waiting domain is a temporary failure, and then it waits again', () => {
    const silent = byDns(pending, 'unknown');
    expect(silent).toMatchObject({ verified: false, status: 'TemporaryFailure' });
    expect(byDns(silent, 'missing')).toMatchObject({ status: 'Pending' });
  });

  test('a lost domain stays lost until its record is right again', () => {
    const lost: DomainState = { ...verified, verified: false, status: 'Failed' };
    expect(byDns(lost, 'missing').status).toBe('Failed');
    expect(byDns(lost, 'unknown').status).toBe('Failed');
    expect(byDns(lost, 'right')).toMatchObject({ verified: true, status: 'Success' });
  });
});
