import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditCampaign } from '../../src/campaigns/results/results.ts';
import { conditionQuery } from '../../src/contacts/conditions.ts';
import { countByName, countNewEvents } from '../../src/contacts/events/counting-queries.ts';
import { newestEventsOf } from '../../src/contacts/events/queries.ts';
import { feedPage } from '../../src/insight/activity/feed-queries.ts';
import { totalOf } from '../../src/insight/activity/total-queries.ts';
import { boundAt, sources } from '../../src/insight/activity/types.ts';
import { explain } from '../../src/insight/explain/service.ts';
import { parseCondition } from '../../src/lib/conditions/condition.ts';
import { dayMs, hourMs, sqlSpan } from '../../src/lib/time.ts';
import { removeByAge } from '../../src/store/columns.ts';
import { divideEvents, eventParts, type PartPace, partPace } from '../../src/store/event-parts.ts';
import { removeOldEvents } from '../../src/store/event-retirement.ts';
import type { Database } from '../../src/store/sql.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { copyRows, type EventRow, eventsBetween, insertRows, randomOf } from '../support/year-of-events.ts';

const days = 365;
const end = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
const begin = end - days * dayMs;
const chunkDays = 3;
const at = (day: number) => new Date(begin + day * dayMs);

class Killed extends Error {}

/** Does something again and again that dies before each kind of step, and before the second and third of them, until it gets through. Answers how often it died. */
async function despiteDeaths<Result>(work: (step: (name: string) => void) => Promise<Result>): Promise<number> {
  const died = new Set<string>();
  for (;;) {
    const met = new Map<string, number>();
    try {
      await work((name) => {
        const times = (met.get(name) ?? 0) + 1;
        met.set(name, times);
        const place = `${name} ${times}`;
        if (times > 3 || died.has(place)) return;
        died.add(place);
        throw new Killed(place);
      });
      return died.size;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
}

/** A year in three databases with the same events: one that keeps all, one whose old events are deleted, one whose parts are dropped. */
class Year {
  plain!: TestDatabase;
  walked!: TestDatabase;
  divided!: TestDatabase;
  readonly projects: TestProject[] = [];
  readonly people: string[][] = [];
  campaign = '';
  mostParts = 0;
  deaths = 0;
  dropped = new Set<string>();
  readonly #random = randomOf(20_261_129);
  readonly #ends = new Map<string, number>();
  readonly retention: { days: number | null; leastDays: number };
  readonly pace: PartPace = { ...partPace, rows: 150 };

  constructor(days: number | null) {
    this.retention = { days, leastDays: 0 };
  }

  get all(): TestDatabase[] {
    return [this.plain, this.walked, this.divided];
  }

  async open(own: readonly (number | null)[]): Promise<void> {
    [this.plain, this.walked, this.divided] = (await Promise.all([
      testDatabase(4),
      testDatabase(4),
      testDatabase(4),
    ])) as [TestDatabase, TestDatabase, TestDatabase];
    const { db } = this.plain;
    for (const [place, keeps] of own.entries()) {
      const project = await aProject(this.plain, `Project ${place}`);
      this.projects.push(project);
      await db.count(`update projects set event_retention_days = $2, created_at = $3 where id = $1`, [
        project.id,
        keeps,
        at(0).toISOString(),
      ]);
      const people = await db.rows<{ id: string }>(
        `insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
         select uuidv7($2::timestamptz - now()), $1, 'p' || n || '@kunde.example', true, $2, $2 from generate_series(1, $3::int) n returning id`,
        [project.id, at(0).toISOString(), place === 0 ? 14 : 5],
      );
      this.people.push(people.map(({ id }) => id));
    }
    for (const person of this.people.flat())
      this.#ends.set(person, this.#random() < 0.4 ? begin + this.#random() * days * dayMs : end);
    const { id = '', sender = '' } = this.projects[0] ?? {};
    const [campaign] = await db.rows<{ id: string }>(
      `insert into campaigns (id, project_id, name, subject, body, "from", audience_type, audience_condition, status, send_seq, sent_at, created_at)
       values (uuidv7($3::timestamptz - now()), $1, 'Asks', 's', 'b', $2, 'FILTERED', $4, 'SENT', 1, $3, $3) returning id`,
      [
        id,
        sender,
        at(150).toISOString(),
        tree({ field: 'event.app.opened', operator: 'triggeredWithin', value: 5, unit: 'days' }),
      ],
    );
    this.campaign = campaign?.id ?? '';
    await db.count(
      `insert into campaign_sends (campaign_id, send_seq, project_id, expanded, closed) values ($1, 1, $2, true, true)`,
      [this.campaign, id],
    );
    for (const other of [this.walked, this.divided])
      await copyRows(db, other.db, 'projects', 'domains', 'contacts', 'campaigns', 'campaign_sends');
  }

  async close(): Promise<void> {
    for (const database of this.all) await database.close();
  }

  async each(work: (db: Database) => Promise<unknown>): Promise<void> {
    for (const { db } of this.all) await work(db);
  }

  async forget(person: string): Promise<void> {
    await this.each((db) => db.count('delete from contacts where id = $1', [person]));
    this.#ends.set(person, begin);
  }

  /** Days that go by: what happens in them, the counts, and retention at their end. */
  async pass(from: number, until: number): Promise<void> {
    const events: EventRow[] = this.projects.flatMap(({ id }, place) =>
      eventsBetween(
        { projectId: id, people: this.people[place] ?? [], perDay: place === 0 ? 14 : 2 },
        at(from).getTime(),
        at(until).getTime(),
        this.#random,
        (person) => this.#ends.get(person) ?? end,
      ),
    );
    await this.each((db) => insertRows(db, 'events', events));
    await this.each((db) => db.count(`update event_counts_state set counted_through = $1`, [at(from).toISOString()]));
    await this.each(countNewEvents);
    await removeByAge(this.walked.db, 'events', this.retention, at(until), 1_000_000);
    if (from >= 100) {
      const before = await this.parts();
      if (before.length === 0) await this.divide(at(until));
      this.deaths += await despiteDeaths((step) =>
        removeOldEvents(this.divided.db, this.retention, at(until), 1_000_000, { ...this.pace, step }),
      );
      const after = await this.parts();
      this.mostParts = Math.max(this.mostParts, after.length);
      for (const name of before) if (!after.includes(name)) this.dropped.add(name);
    } else await removeOldEvents(this.divided.db, this.retention, at(until), 1_000_000, this.pace);
  }

  async parts(): Promise<string[]> {
    return (await eventParts(this.divided.db.pool)).map(({ name }) => name);
  }

  async divide(now: Date): Promise<void> {
    const client = await this.divided.db.pool.connect();
    try {
      this.deaths += await despiteDeaths((step) => divideEvents(client, this.retention, now, { ...this.pace, step }));
    } finally {
      client.release();
    }
  }
}

const tree = (...filters: object[]) => JSON.stringify({ logic: 'AND', groups: [{ filters }] });
const narrow = { field: 'event.order.paid', operator: 'triggered', times: { atLeast: 40 } };
const ofData = {
  field: 'event.order.paid',
  operator: 'notTriggered',
  where: [{ path: 'total', operator: 'equals', value: 8 }],
};
const ofLink = { field: 'email.clicked', operator: 'triggered', link: 'https://l.example/1' };
const asked = ['app.opened', 'plan.changed', 'order.paid', 'email.open', 'never.seen'].flatMap((name) => {
  const field = `event.${name}`;
  return [
    { field, operator: 'triggered' },
    { field, operator: 'notTriggered' },
    ...[60, 200].flatMap((value) =>
      ['triggeredWithin', 'triggeredOlderThan', 'notTriggeredWithin'].map((operator) => ({
        field,
        operator,
        value,
        unit: 'days',
      })),
    ),
  ];
});

/** Whom each condition finds. */
async function audiences(db: Database, projectId: string, now: Date, filters: readonly object[]) {
  const found: Record<string, string[]> = {};
  for (const filter of filters) {
    const condition = parseCondition({ logic: 'AND', groups: [{ filters: [filter] }] });
    const query = conditionQuery(condition, { projectId, now, reach: 'all' });
    const rows = await db.rows<{ id: string }>(
      `select c.id from contacts c where c.project_id = '${projectId}' and ${query.text} order by 1`,
      [...query.values],
    );
    found[JSON.stringify(filter)] = rows.map(({ id }) => id);
  }
  return found;
}

/** Everything that is counted of a project. */
async function sums(db: Database, projectId: string, now: Date) {
  const ago = (count: number) => new Date(now.getTime() - count * dayMs);
  const spans = [
    { from: null, until: null },
    { from: ago(200), until: null },
    { from: ago(170), until: ago(20) },
    { from: ago(60), until: ago(10) },
  ];
  const types = new Set(['event.triggered', 'email.opened', 'email.clicked'] as const);
  return {
    names: await Promise.all(spans.map((span) => countByName(db, projectId, sqlSpan(span, dayMs)))),
    feed: await Promise.all(spans.map((span) => totalOf(db, projectId, sqlSpan(span, hourMs), types))),
    days: await db.rows(
      `select name, day::text, sum(events)::int as events from event_counts where project_id = $1 group by 1, 2 having sum(events) <> 0 order by 1, 2`,
      [projectId],
    ),
    hours: await db.rows(
      `select kind, hour::text, sum(items)::int as items from activity_counts where project_id = $1 group by 1, 2 having sum(items) <> 0 order by 1, 2`,
      [projectId],
    ),
    consent: await db.rows(
      `select id, contact_id, name, created_at::text from events where project_id = $1 and name like 'contact.%' order by 1`,
      [projectId],
    ),
  };
}

/** The feed, and the lists of each person, as far back as rows are kept. */
async function feeds(db: Database, projectId: string, people: readonly string[], from: Date) {
  const page = await feedPage(db, projectId, {
    contactId: null,
    from: from.toISOString(),
    bounds: sources.map(() => boundAt(null)),
    asked: sources.map(({ rows }) => rows === 'events' || rows === 'mail'),
    limit: 100,
  });
  const lists = await Promise.all(people.map((person) => newestEventsOf(db, projectId, person, 100)));
  return { page, lists: lists.map((list) => list.filter(({ createdAt }) => Date.parse(createdAt) >= from.getTime())) };
}

// The day before which rows may be gone is that of a whole part where they go with it.
const withoutDays = (value: unknown) =>
  JSON.parse(JSON.stringify(value).replaceAll(/\d{4}-\d{2}-\d{2}T?[\d:.]*Z?|[A-Z][a-z]+ \d{1,2}, \d{4}/g, 'then'));

describe.each([
  { title: 'of 90 days for everybody, with a project that keeps 31', kept: 90, own: [null, 31] as (number | null)[] },
  { title: 'of 90 days for one project, beside one that keeps all', kept: null, own: [90, null] as (number | null)[] },
])('a year of events, quarters dropped, sums true: $title', ({ kept, own }) => {
  const year = new Year(kept);
  const compared = async (now: Date) => {
    for (const [place, { id }] of year.projects.entries()) {
      const days = own[place] ?? kept;
      const cutoff = days === null ? at(0) : new Date(now.getTime() - days * dayMs);
      const filters = [...asked, ...(place === 0 && now >= at(130) ? [narrow, ofData, ofLink] : [])];
      const [plain, walked, divided] = await Promise.all(
        year.all.map(async ({ db }) => ({
          sums: await sums(db, id, now),
          audiences: await audiences(db, id, now, filters),
          feeds: await feeds(db, id, year.people[place] ?? [], cutoff),
        })),
      );
      expect(divided).toEqual(walked);
      expect(divided).toEqual(plain);
    }
  };

  beforeAll(() => year.open(own));
  afterAll(() => year.close());

  test('every count, audience, consent and feed is that of a table whose rows are deleted, and of one that keeps all', {
    timeout: 600_000,
  }, async () => {
    for (let day = 0; day < days; day += chunkDays) {
      const until = Math.min(days, day + chunkDays);
      await year.pass(day, until);
      // Before anything is removed: what a saved condition asks more of stays from then on.
      if (day === 54)
        await year.each((db) =>
          db.count(
            `insert into segments (id, project_id, name, type, condition) values (uuidv7(), $1, 'Narrow', 'DYNAMIC', $2)`,
            [year.projects[0]?.id, tree(narrow, ofData, ofLink)],
          ),
        );
      // While all of the events are there, whose counts go with them.
      if (day === 60) await year.forget(year.people[0]?.[3] ?? '');
      if (day % 33 === 0 || until === days) await compared(at(until));
    }
    await year.each(async (db) => {
      await db.count(`update event_counts_state set counted_through = $1`, [new Date(end).toISOString()]);
      await countNewEvents(db);
    });
    await compared(at(days));
  });

  test('parts were dropped, never more than six were there, and it was killed between all steps', async () => {
    expect(year.dropped.size).toBeGreaterThanOrEqual(4);
    expect([...year.dropped]).toContain('events_before');
    expect(year.mostParts).toBeLessThanOrEqual(6);
    expect(year.deaths).toBeGreaterThan(40);
    const gone = await year.divided.db.rows(`select relname from pg_class where relname = any ($1)`, [
      [...year.dropped],
    ]);
    expect(gone).toEqual([]);
    expect(
      await year.divided.db.row(
        'select copied_before as copying, (select count(*)::int from events_touched) as touched from event_counts_state',
      ),
    ).toEqual({
      copying: null,
      touched: 0,
    });
  });

  test('what had to stay is there to the last byte, what goes is gone with its part, and nothing else came', async () => {
    const row = (db: Database) =>
      db.rows<{ id: string; row: string; project: string; at: string }>(
        `select id, md5(e::text) as row, project_id as project, created_at::text as at from events e order by id`,
      );
    const [all, walked, left] = [await row(year.plain.db), await row(year.walked.db), await row(year.divided.db)];
    const rows = new Map(all.map((each) => [each.id, each]));
    for (const each of left) expect(each).toEqual(rows.get(each.id));
    const there = new Set(left.map(({ id }) => id));
    const stay = new Set(all.map(({ id }) => id));
    for (const [place, { id }] of year.projects.entries()) {
      const days = own[place] ?? kept;
      if (days === null) continue;
      const ids = all.filter(({ project }) => project === id).map((each) => each.id);
      const cutoff = new Date(end - days * dayMs).toISOString();
      const going = await year.plain.db.row<{ ids: string[] }>('select removable_events($1, $2) as ids', [ids, cutoff]);
      for (const each of going?.ids ?? []) stay.delete(each);
    }
    expect([...stay].filter((id) => !there.has(id))).toEqual([]);
    // A third of the retention, and some days, is what waits for its part at most; the walk leaves less.
    expect(left.length).toBeLessThan(all.length * 0.75);
    expect(left.length).toBeGreaterThanOrEqual(walked.length * 0.9);
  });

  test('explanations and audits say the same', async () => {
    const of = async ({ db }: TestDatabase) => {
      const emails = await db.rows<{ email: string }>('select email from contacts where project_id = $1 order by id', [
        year.projects[0]?.id,
      ]);
      return {
        audit: await auditCampaign(db, year.projects[0]?.id ?? '', year.campaign),
        answers: await Promise.all(
          emails.map(async ({ email }) => ({
            ...(await explain(
              db.session(),
              year.projects[0]?.id ?? '',
              { contact: email, about: { campaignId: year.campaign } },
              90,
            )),
            // It has the instant at which it was asked.
            permalink: null,
          })),
        ),
      };
    };
    const [walked, divided] = [await of(year.walked), await of(year.divided)];
    expect(withoutDays(divided)).toEqual(withoutDays(walked));
    expect(JSON.stringify(divided.answers)).toContain('may no longer be kept');
  });
});
