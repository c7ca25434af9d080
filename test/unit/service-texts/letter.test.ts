import { expect, test } from 'vitest';
import { writeLetter } from '../../../src/lib/texts/letter.ts';
import { letterKinds, mailTexts } from '../../../src/lib/texts/letter-texts.ts';

const values = {
  project: 'Acme & Sons',
  domain: 'acme.test',
  category: 'campaigns',
  used: '800',
  limit: '1000',
  campaign: 'Spring counts',
  workflow: 'Welcome',
  version: '2',
  name: 'Spring counts',
  recipients: '12,000',
  inviter: 'grace@acme.test',
  host: 'hooks.acme.test',
  reason: 'The endpoint answered 410 Gone',
};
const link = 'https://mail.harbour.test/auth/verify-email?token=1&x=2';

test.each(Object.keys(mailTexts))('every mail in %s is filled in whole, as HTML and as text', (language) => {
  for (const kind of letterKinds) {
    const letter = writeLetter({ kind, language, link, values }, 'Fernpost');
    for (const part of Object.values(letter)) expect(part).not.toMatch(/\{\w+\}/);
    expect(letter.text).toContain(link);
    expect(letter.html).toContain(`<html lang="${language}">`);
    expect(letter.html).toContain('href="https://mail.harbour.test/auth/verify-email?token=1&amp;x=2"');
    expect(letter.subject).not.toMatch(/[\r\n]/);
  }
});

test('what a stranger can write is no markup and no further line of a subject', () => {
  const project = '<img src=x onerror=alert(1)>\r\nBcc: everybody@example.org';
  const letter = writeLetter({ kind: 'project-disabled', language: 'en', link, values: { project } }, 'Fernpost');
  expect(letter.html).not.toContain('<img');
  expect(letter.subject).not.toMatch(/[\r\n]/);
});

test('the first of the wished languages that is offered is taken, else English', () => {
  const subject = (language: string | null) =>
    writeLetter({ kind: 'verify-address', language, link }, 'Fernpost').subject;
  expect(subject('pt-BR,fr-CA;q=0.8,de;q=0.5')).toBe(mailTexts.fr['verify-address'].subject);
  expect(subject('ja')).toBe(mailTexts.en['verify-address'].subject);
  expect(subject(null)).toBe(mailTexts.en['verify-address'].subject);
  expect(subject('constructor,__proto__')).toBe(mailTexts.en['verify-address'].subject);
});
