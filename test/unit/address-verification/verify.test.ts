import { describe, expect, test } from 'vitest';
import { loadLists } from '../../../src/accounts/verification/addresses/typo.ts';
import { type RecordType, type Resolver, verifyAddress } from '../../../src/accounts/verification/addresses/verify.ts';

const lists = loadLists();

/** Knows only the records it is given, as `MX gmail.com`, and remembers what it was asked. */
class FakeResolver implements Resolver {
  readonly asked: string[] = [];
  readonly #records: Set<string>;

  constructor(...records: string[]) {
    this.#records = new Set(records);
  }

  async hasRecord(name: string, type: RecordType): Promise<boolean> {
    this.asked.push(`${type} ${name}`);
    return this.#records.has(`${type} ${name}`);
  }
}

function verify(address: string, ...records: string[]) {
  return verifyAddress(address, { resolver: new FakeResolver(...records), lists });
}

describe('the answer about an address', () => {
  test('of a living domain says that it appears to be valid', async () => {
    expect(
      await verify('ada@mail.example.net', 'NS example.net', 'MX mail.example.net', 'AAAA mail.example.net'),
    ).toEqual({
      email: 'ada@mail.example.net',
      valid: true,
      isDisposable: false,
      isAlias: false,
      isTypo: false,
      isPlusAddressed: false,
      isPersonalEmail: false,
      domainExists: true,
      hasWebsite: true,
      hasMxRecords: true,
      reasons: ['Email appears to be valid'],
    });
  });

  test('of a mistyped domain that does not exist gives both reasons in order and the address that was meant', async () => {
    expect(await verify('user@gmial.com')).toEqual({
      email: 'user@gmial.com',
      valid: false,
      isDisposable: false,
      isAlias: false,
      isTypo: true,
      isPlusAddressed: false,
      isPersonalEmail: false,
      domainExists: false,
      hasWebsite: false,
      hasMxRecords: false,
      suggestedEmail: 'user@gmail.com',
      reasons: ['Possible typo detected, did you mean gmail.com?', 'Domain does not exist (no nameservers found)'],
    });
  });

  test('of a domain without mail servers gives that reason, and a website does not help', async () => {
    const answer = await verify('ada@kunde.example', 'NS kunde.example', 'A kunde.example');
    expect(answer).toMatchObject({ valid: false, domainExists: true, hasMxRecords: false, hasWebsite: true });
    expect(answer.reasons).toEqual(['Domain cannot receive email (no MX records found)']);
  });

  test('of a mistyped domain that lives and has no mail servers gives both reasons in order', async () => {
    const answer = await verify('ada@hotmial.com', 'NS hotmial.com');
    expect(answer.reasons).toEqual([
      'Possible typo detected, did you mean hotmail.com?',
      'Domain cannot receive email (no MX records found)',
    ]);
  });

  test('of a mistyped domain that takes mail is valid, with the typo as its one reason', async () => {
    const answer = await verify('ada@hotmial.com', 'NS hotmial.com', 'MX hotmial.com');
    expect(answer).toMatchObject({ valid: true, isTypo: true, hasWebsite: false });
    expect(answer.reasons).toEqual(['Possible typo detected, did you mean hotmail.com?']);
  });

  test('repeats the address as it was sent, and its suggestion keeps the local part', async () => {
    const answer = await verify(' Ada.Lovelace+News@GMIAL.com ');
    expect(answer.email).toBe(' Ada.Lovelace+News@GMIAL.com ');
    expect(answer.suggestedEmail).toBe('Ada.Lovelace+News@gmail.com');
    expect(answer.isPlusAddressed).toBe(true);
  });

  test.each([
    ['ada@mailinator.com', { isDisposable: true, isAlias: false, isPersonalEmail: false }],
    ['ada@GMAIL.com', { isDisposable: false, isAlias: false, isPersonalEmail: true }],
    ['abc123@privaterelay.appleid.com', { isDisposable: false, isAlias: true, isPersonalEmail: false }],
    ['ada@sub.mailinator.com', { isDisposable: false, isAlias: false, isPersonalEmail: false }],
    ['mailinator.com@kunde.example', { isDisposable: false, isAlias: false, isPersonalEmail: false }],
  ])('matches the lists on the whole domain: %s', async (address, kinds) => {
    expect(await verify(address)).toMatchObject(kinds);
  });

  test('is valid for throw-away, alias and plus addresses whose domain takes mail', async () => {
    expect(await verify('a+b@mailinator.com', 'NS mailinator.com', 'MX mailinator.com')).toMatchObject({
      valid: true,
      isPlusAddressed: true,
    });
    expect(await verify('x@duck.com', 'NS duck.com', 'MX duck.com')).toMatchObject({ valid: true });
  });
});

describe('the questions asked', () => {
  test('stop at the name servers when there are none', async () => {
    const resolver = new FakeResolver('MX kunde.example', 'A kunde.example');
    const answer = await verifyAddress('ada@kunde.example', { resolver, lists });
    expect(resolver.asked).toEqual(['NS kunde.example']);
    expect(answer).toMatchObject({ domainExists: false, hasMxRecords: false, hasWebsite: false });
  });

  test('go to the registered domain as well when the address has a deeper one', async () => {
    const resolver = new FakeResolver('NS example.co.uk', 'MX mail.eu.example.co.uk');
    const answer = await verifyAddress('ada@mail.eu.example.co.uk', { resolver, lists });
    expect(resolver.asked.slice(0, 2)).toEqual(['NS mail.eu.example.co.uk', 'NS example.co.uk']);
    expect(answer).toMatchObject({ domainExists: true, hasMxRecords: true, hasWebsite: false, valid: true });
  });

  test('take a public suffix as a domain of its own', async () => {
    const resolver = new FakeResolver();
    expect(await verifyAddress('ada@co.uk', { resolver, lists })).toMatchObject({ domainExists: false });
    expect(resolver.asked).toEqual(['NS co.uk']);
  });

  test('are asked in lower case and at the same time', async () => {
    const open: (() => void)[] = [];
    const asked: string[] = [];
    const resolver: Resolver = {
      hasRecord(name, type) {
        asked.push(`${type} ${name}`);
        return new Promise((settle) => open.push(() => settle(true)));
      },
    };
    const answer = verifyAddress('Ada@Posta.EXAMPLE', { resolver, lists });
    await Promise.resolve();
    expect(asked).toEqual(['NS posta.example']);
    for (const settle of open.splice(0)) settle();
    await expect.poll(() => asked.slice(1)).toEqual(['MX posta.example', 'A posta.example', 'AAAA posta.example']);
    for (const settle of open.splice(0)) settle();
    expect(await answer).toMatchObject({ valid: true, hasWebsite: true });
  });
});

test('a missing list tells nothing, and nothing fails', async () => {
  const empty = loadLists(new URL('./no-such-folder/', import.meta.url));
  const answer = await verifyAddress('ada@mailinator.com', { resolver: new FakeResolver(), lists: empty });
  expect(answer).toMatchObject({ isDisposable: false, isPersonalEmail: false, isAlias: false, isTypo: false });
});
