import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { loadLists } from '../../../src/accounts/verification/addresses/typo.ts';

async function folder(files: Record<string, string>): Promise<URL> {
  const path = await mkdtemp(join(tmpdir(), 'lists-'));
  onTestFinished(() => rm(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return pathToFileURL(`${path}/`);
}

test('the lists that ship know the best-known domains of each kind', () => {
  const { disposable, personal, alias } = loadLists();
  for (const domain of ['mailinator.com', 'yopmail.com', 'guerrillamail.com', '10minutemail.com', 'temp-mail.org']) {
    expect(disposable).toContain(domain);
  }
  for (const domain of ['gmail.com', 'outlook.com', 'yahoo.co.jp', 'icloud.com', 'gmx.de', 'qq.com', 'mail.ru']) {
    expect(personal).toContain(domain);
  }
  for (const domain of [
    'privaterelay.appleid.com',
    'mozmail.com',
    'simplelogin.com',
    'anonaddy.me',
    'duck.com',
    'passmail.net',
    '33mail.com',
  ]) {
    expect(alias).toContain(domain);
  }
  expect(disposable.size).toBeGreaterThanOrEqual(150);
});

test('every line that ships is a domain in lower case, and no domain is on two lists', () => {
  const { disposable, personal, alias, notTypos, popular } = loadLists();
  const kinds = [...disposable, ...personal, ...alias];
  const all = [...kinds, ...notTypos, ...popular.flatMap((p) => [p.domain, ...p.misspellings])];
  expect(all.filter((domain) => !/^[a-z\d-]+(\.[a-z\d-]+)+$/.test(domain))).toEqual([]);
  expect(new Set(kinds).size).toBe(kinds.length);
});

test('blank lines, comments, blanks and letter case do not matter', async () => {
  const lists = loadLists(
    await folder({
      'disposable.txt': '# a comment\n\n  Trash.Example  \r\nbin.example # and why\n',
      'popular.txt': 'Big.Example  bgi.example\tbiig.example\n',
    }),
  );
  expect([...lists.disposable]).toEqual(['trash.example', 'bin.example']);
  expect(lists.popular).toEqual([{ domain: 'big.example', misspellings: ['bgi.example', 'biig.example'] }]);
});

test('a list that is missing is an empty one', async () => {
  const lists = loadLists(await folder({ 'alias.txt': 'relay.example\n' }));
  expect([...lists.alias]).toEqual(['relay.example']);
  expect(lists.disposable.size).toBe(0);
  expect(lists.personal.size).toBe(0);
  expect(lists.popular).toEqual([]);
});
