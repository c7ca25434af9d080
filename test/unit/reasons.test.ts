import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type ReasonCode, reasonSentences, reasonText, storedReason } from '../../src/mail/ledger/reasons.ts';

test('every code has the sentence that the interface has always answered', () => {
  const codes = Object.keys(reasonSentences) as ReasonCode[];
  expect(
    Object.fromEntries(codes.map((code) => [code, reasonText({ code, number: 8, words: 'no {number} $& {words}' })])),
  ).toEqual({
    project_disabled: 'Project is disabled',
    domain_unverified: 'Sender domain is not verified',
    limit_reached: 'Billing limit reached',
    not_subscribed: 'The contact is not subscribed',
    unsubscribed: 'Contact is unsubscribed',
    campaign_cancelled: 'Campaign cancelled',
    left_audience: 'No longer in the audience that was reviewed',
    left_out_at_review: 'Left out at the review: no {number} $& {words}',
    cancelled: 'Cancelled before it was sent',
    left_workflow: 'left the workflow: no {number} $& {words}',
    not_rendered: 'The message could not be rendered: no {number} $& {words}',
    refused: 'Refused by the provider (8): no {number} $& {words}',
    submission_unknown: 'submission unknown',
    too_old: 'Given up after 24 hours: no {number} $& {words}',
    too_many_attempts: 'Given up after 8 attempts: no {number} $& {words}',
    provider: 'no {number} $& {words}',
  });
});

test('Postgres has the same table', () => {
  const text = readFileSync(new URL('../../migrations/functions/mail_reason_text.sql', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/when '(\w+)' then '([^']*)'/g)].map(([, code, sentence]) => [code, sentence]);
  expect(rows).toEqual(Object.entries(reasonSentences));
});

test('what Postgres cannot store is left out of the words', () => {
  expect(storedReason({ code: 'not_rendered', words: 'a\0b \ud800 c' })).toBe(
    '{"code":"not_rendered","words":"ab \ufffd c"}',
  );
  expect(storedReason({ code: 'unsubscribed' })).toBe('{"code":"unsubscribed"}');
});
