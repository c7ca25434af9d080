import fc from 'fast-check';
import { expect, test } from 'vitest';
import { migrations } from '../../migrations/index.ts';
import {
  type Reason,
  type ReasonCode,
  reasonSentences,
  reasonText,
  storedReason,
} from '../../src/mail/ledger/reasons.ts';
import { migrateDatabase } from '../../src/store/migrate.ts';
import { emptyDatabase, testDatabase } from '../support/database.ts';

const codes = Object.keys(reasonSentences) as ReasonCode[];
const words = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', 'two\nlines', '{number} {words} $& $1', 'Given up after 24 hours: x', 'submission unknown'),
);
const reasons = fc.oneof(
  ...codes.map((code): fc.Arbitrary<Reason> => {
    const sentence = reasonSentences[code];
    return fc.record({
      code: fc.constant(code),
      ...(sentence.includes('{number}')
        ? { number: fc.integer({ min: code === 'refused' ? -999 : 1, max: 999_999 }) }
        : {}),
      ...(sentence.includes('{words}') ? { words } : {}),
    });
  }),
);
const sampled = fc.sample(reasons, { numRuns: 1_000, seed: 14 });

test('Postgres makes the same sentence of every reason as the service', async () => {
  await using database = await testDatabase();
  const rows = await database.db.rows<{ text: string | null }>(
    'select mail_reason_text(r::jsonb) as text from unnest($1::text[]) with ordinality as t(r, n) order by n',
    [sampled.map(storedReason)],
  );
  expect(rows.map(({ text }) => text)).toEqual(sampled.map((reason) => reasonText(reason).replaceAll('\0', '')));
  expect(
    await database.db.row(`select mail_reason_text(null) as none, mail_reason_text('{"code": "later"}') as later`),
  ).toEqual({
    none: null,
    later: 'later',
  });
});

test('a sentence that an earlier release stored becomes its code, and reads as before', async () => {
  await using database = await emptyDatabase();
  const cut = migrations.findIndex(({ name }) => name.endsWith('_mail_reasons'));
  await migrateDatabase(database.url, { list: migrations.slice(0, cut) });
  const odd = [
    'Refused by the provider',
    'Refused by the provider (007): x',
    'Refused by the provider (99999999999): x',
    'Given up after many attempts: x',
    'Contact is unsubscribed.',
    'mailbox full',
  ];
  // Earlier releases could neither cancel mail nor review campaigns.
  const later: ReasonCode[] = ['cancelled', 'left_workflow', 'left_audience', 'left_out_at_review'];
  const known = sampled.filter(({ code }) => code !== 'provider' && !later.includes(code));
  const sentences = [...known.map((reason) => reasonText(reason).replaceAll('\0', '')), ...odd];
  await database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status, error)
     select uuidv7(), gen_random_uuid(), gen_random_uuid(), '', '', 'CAMPAIGN', 'MARKETING', gen_random_uuid(), n, 'FAILED', sentence
     from unnest($1::text[]) with ordinality as t(sentence, n)`,
    [[...sentences, null]],
  );
  await migrateDatabase(database.url);
  const rows = await database.db.rows<{ reason: Reason | null; text: string | null }>(
    'select reason, mail_reason_text(reason) as text from emails order by send_seq',
  );
  expect(rows.map(({ text }) => text)).toEqual([...sentences, 'The reason was not kept']);
  expect(rows.map(({ reason }) => reason?.code)).toEqual([
    ...known.map(({ code }) => code),
    ...odd.map(() => 'provider'),
    // A failure without a reason: a later release says so.
    'provider',
  ]);
  expect(rows.slice(0, known.length).map(({ reason }) => reason)).toEqual(
    known.map((reason) => JSON.parse(storedReason(reason)) as Reason),
  );
});
