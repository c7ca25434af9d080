import {
  contactTotals,
  fieldCounts,
  valuesOfKey,
  valuesOfNewestContacts,
} from '../../src/contacts/catalogue-queries.ts';
import { countByName } from '../../src/contacts/events/counting-queries.ts';
import { eventAudience, newestEvents, newestEventsOf } from '../../src/contacts/events/queries.ts';
import { countContacts, existingAddresses, pageOfContacts } from '../../src/contacts/list-queries.ts';
import { type Database, Query } from '../../src/store/sql.ts';

/** Prints how Postgres executes the reads of the audience, as `docs/performance-archive.md` keeps it. */
export async function tellPlans(db: Database, projectId: string): Promise<void> {
  const sql = explaining(db);
  const page = { limit: 20, search: null, subscribed: null, sort: 'createdAt', dir: 'desc', after: null } as const;
  const at = '2026-01-01 00:00:00+00';
  const id = '018f0000-0000-7000-8000-000000000000';
  const all = { from: '-infinity', until: 'infinity', first: '-infinity', last: 'infinity' };
  const reads: [string, () => Promise<unknown>][] = [
    ['first page of contacts', () => pageOfContacts(sql, projectId, page)],
    [
      'a later page by address',
      () => pageOfContacts(sql, projectId, { ...page, sort: 'email', dir: 'asc', after: ['m', id] }),
    ],
    ['contacts that are not subscribed', () => pageOfContacts(sql, projectId, { ...page, subscribed: false })],
    ['search that finds a hundred', () => pageOfContacts(sql, projectId, { ...page, search: 'on.4242' })],
    ['search that finds a third', () => pageOfContacts(sql, projectId, { ...page, search: 'kunde.example' })],
    ['how many that search finds', () => countContacts(sql, projectId, { search: 'kunde.example', subscribed: null })],
    ['how many contacts there are', () => contactTotals(sql, projectId)],
    ['lookup', () => existingAddresses(sql, projectId, ['person.1@example.com', 'person.2@example.com'])],
    ['all fields', () => fieldCounts(sql, projectId)],
    ['values of a key', () => valuesOfKey(sql, projectId, 'plan', 100)],
    ['values of an open-ended key', () => valuesOfNewestContacts(sql, projectId, 'firstName', 100)],
    ['newest events', () => newestEvents(sql, projectId, null, 100)],
    ['newest events of a name', () => newestEvents(sql, projectId, 'purchase', 100)],
    ['newest events of a contact', () => newestEventsOf(sql, projectId, id, 50)],
    ['counts of events by name', () => countByName(sql, projectId, all)],
    [
      'counts of events within a range',
      () => countByName(sql, projectId, { from: at, until: '2026-03-01 12:00:00+00', first: at, last: '2026-03-01' }),
    ],
    ['how often an event happened and to how many', () => eventAudience(sql, projectId, 'refund')],
  ];
  for (const [name, read] of reads) {
    console.log(`\n-- ${name}`);
    // The result is a plan and not the rows that the caller expects.
    await read().catch(() => undefined);
  }
}

/**
 * A database that prints how Postgres executes each read. Its reads are empty, or what they are where `answers` says so: an answer that
 * takes several of them needs those before.
 */
export function explaining(db: Database, { answers = false } = {}): Database {
  const explain = async (query: Query | string, values: readonly unknown[] = []) => {
    const text = typeof query === 'string' ? query : query.text;
    const plan = await db.rows<{ 'QUERY PLAN': string }>(
      `explain (analyze, costs off, timing off, summary off, buffers off) ${text}`,
      query instanceof Query ? query.values : values,
    );
    console.log(plan.map((line) => line['QUERY PLAN']).join('\n'));
  };
  return {
    ...db,
    rows: async (query, values) => {
      await explain(query, values);
      return answers ? db.rows(query, values) : [];
    },
    row: async (query, values) => {
      await explain(query, values);
      return answers ? db.row(query, values) : null;
    },
    count: async (query, values) => {
      await explain(query, values);
      return 0;
    },
  };
}
