import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Migration } from '@mikro-orm/migrations';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrations } from '../../migrations/index.ts';
import { countByName, countNewEvents } from '../../src/contacts/events/counting-queries.ts';
import type { Notification } from '../../src/domains/providers/mailer.ts';
import { applyNotification } from '../../src/feedback/reports/notify.ts';
import { emptyEvents } from '../../src/insight/erasures/steps.ts';
import { firstIdAt } from '../../src/lib/ids.ts';
import { dayMs, sqlSpan } from '../../src/lib/time.ts';
import { divideEvents, eventParts, type PartPace, partPace, undivideEvents } from '../../src/store/event-parts.ts';
import { removeOldEvents } from '../../src/store/event-retirement.ts';
import { migrateDatabase } from '../../src/store/migrate.ts';
import { recordingEvents } from '../../src/store/record-events.ts';
import { type Answer, aProject, type TestProject, testApi } from '../support/api.ts';
import { anAutomation, letIn } from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { schemaText, shapeOf } from '../support/schema.ts';

let database: TestDatabase;
let project: TestProject;
const now = new Date();
const retention = { days: 40, leastDays: 0 };
const inDays = (days: number) => new Date(now.getTime() + days * dayMs);

beforeEach(async () => {
  database = await testDatabase();
  project = await aProject(database);
});
afterEach(() => database.close());

async function withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: database.url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const divide = (at = now, pace: Partial<PartPace> = {}) =>
  withClient((client) => divideEvents(client, retention, at, { ...partPace, ...pace }));
const pass = (at: Date, pace: Partial<PartPace> = {}) =>
  removeOldEvents(database.db, retention, at, 1_000_000, { ...partPace, ...pace });
const parts = async () => (await eventParts(database.db.pool)).map(({ name }) => name);
const rows = <Row extends object>(text: string, values: unknown[] = []) => database.db.rows<Row>(text, values);

/** People with so many events each, of names in turn, in the days before so many days ago. */
async function fill(people: number, each: number, names: readonly string[], until = 1): Promise<string[]> {
  const contacts = await rows<{ id: string }>(
    `insert into contacts (id, project_id, email, subscribed) select uuidv7(), $1, 'p' || n || '@kunde.example', true from generate_series(1, $2::int) n returning id`,
    [project.id, people],
  );
  await rows(
    `insert into events (id, project_id, contact_id, name, data, created_at)
     select uuidv7(at - now()), $1, c.id, ($3::text[])[1 + n % cardinality($3::text[])], '{"a": 1}', at
     from unnest($2::uuid[]) c (id) cross join generate_series(0, $4::int - 1) n,
       lateral (select now() - make_interval(days => $5, mins => 60 * n + 7) as at) d`,
    [project.id, contacts.map(({ id }) => id), names, each, until],
  );
  await rows(`update event_counts_state set counted_through = '-infinity'`);
  await countNewEvents(database.db);
  return contacts.map(({ id }) => id);
}

describe('dividing', () => {
  test('takes nothing along but names, carries all that the table had, and is taken back while nothing came after', async () => {
    await fill(2, 5, ['app.opened']);
    await rows(`create role reader; grant select on events to reader; alter table events set (fillfactor = 93)`);
    const before = schemaText(await shapeOf(database.db), new Map());
    const files = () =>
      rows(
        `select array(select pg_relation_filenode(indexrelid) from pg_index where indrelid = c.oid union all select pg_relation_filenode(c.oid) order by 1) as files
         from pg_class c where relname in ('events', 'events_before') and relkind = 'r'`,
      );
    const stored = await files();
    const said: string[] = [];
    expect(await divide(now, { say: (line) => said.push(line) })).toMatch(
      /^Events are divided into 2 parts, which retention drops 40 days after/,
    );
    expect(await files()).toEqual(stored);
    const names = await parts();
    expect(names[0]).toBe('events_before');
    expect(
      await rows(
        `select has_table_privilege('reader', 'events', 'select') as may, c.reloptions as options,
           (select count(*)::int from pg_trigger where tgrelid = 'events'::regclass) as triggers, (select count(*)::int from pg_index where indrelid = 'events'::regclass and indisvalid) as indexes
         from pg_class c where relname = $1`,
        [names[1]],
      ),
    ).toEqual([{ may: true, options: expect.arrayContaining(['fillfactor=93']), triggers: 1, indexes: 9 }]);
    // Again, and nothing happens.
    await divide();
    expect(await parts()).toEqual(names);
    expect(await withClient((client) => undivideEvents(client))).toBe('Events are one table again');
    expect(schemaText(await shapeOf(database.db), new Map())).toBe(before);
    expect(await parts()).toEqual([]);
    expect(await withClient((client) => undivideEvents(client))).toBe('Events are one table');
    await rows('drop owned by reader; drop role reader');
  });

  test('is a command of the operator, which reads the retention from the settings', { timeout: 240_000 }, async () => {
    const operator = async (days: string, ...args: string[]) => {
      const env = { ...process.env, DATABASE_URL: database.url, EVENT_RETENTION_DAYS: days };
      return (await promisify(execFile)(process.execPath, ['src/main/project.ts', 'events', ...args], { env })).stdout;
    };
    expect(JSON.parse(await operator('120'))).toEqual([]);
    await expect(operator('', 'divide')).rejects.toMatchObject({
      stderr: expect.stringContaining('a division gains nothing'),
    });
    expect(await operator('120', 'divide')).toMatch(
      /Events are divided into 2 parts, which retention drops 120 days after their end/,
    );
    expect(JSON.parse(await operator('120'))).toMatchObject([
      { name: 'events_before' },
      { name: expect.stringMatching(/^events_from_/) },
    ]);
    expect(await operator('120', 'undivide')).toBe('Events are one table again\n');
  });

  test('is refused where nothing is removed by its age, and where a view would stay with a part', async () => {
    await expect(withClient((client) => divideEvents(client, { days: null, leastDays: 0 }, now))).rejects.toThrow(
      'a division gains nothing',
    );
    await rows('create view seen as select count(*) from events');
    await expect(divide()).rejects.toThrow('the view seen would stay with the first part alone');
    expect(await parts()).toEqual([]);
  });

  test('cannot be taken back once a later part has events, and says so', async () => {
    await divide(inDays(-20));
    await fill(1, 3, ['app.opened']);
    await expect(withClient((client) => undivideEvents(client))).rejects.toThrow('There is no way back any more');
  });

  test('a cut that nobody finished is given up a day before events would be refused', async () => {
    const fails = divide(now, {
      step: (name) => {
        if (name === 'validate') throw new Error('killed');
      },
    });
    await expect(fails).rejects.toThrow('killed');
    const check = () => rows(`select convalidated as valid from pg_constraint where conname = 'events_cut'`);
    expect(await check()).toEqual([{ valid: false }]);
    await pass(inDays(7.2));
    expect(await check()).toEqual([]);
    expect(await parts()).toEqual(['events_before']);
    await pass(inDays(7.2));
    expect(await parts()).toHaveLength(2);
  });

  test('a cut that nobody finished is given up where events are kept for ever again', async () => {
    const step = (name: string) => {
      if (name === 'cut') throw new Error('killed');
    };
    await expect(divide(now, { step })).rejects.toThrow('killed');
    await removeOldEvents(database.db, { days: null, leastDays: 0 }, now, 1_000);
    expect(await rows(`select from pg_constraint where conname = 'events_cut'`)).toEqual([]);
  });

  test('a last part that has events already is cut ahead of them', async () => {
    await divide(inDays(-60));
    await fill(3, 20, ['app.opened'], 15);
    const before = await parts();
    expect(before).toHaveLength(2);
    await pass(inDays(-10));
    const [, , last] = await eventParts(database.db.pool);
    expect(last?.from).toBe(firstIdAt(new Date((Math.floor(inDays(-10).getTime() / dayMs) + 8) * dayMs)));
    expect(await rows(`select count(*)::int as events from events`)).toEqual([{ events: 60 }]);
  });
});

describe('dropping', () => {
  const old = inDays(60);
  const names = ['app.opened', 'page.seen', 'order.paid'];
  /** Runs a pass in which something happens once before a step. */
  async function passWith(name: string, work: () => Promise<unknown>): Promise<void> {
    let isDone = false;
    const step = async (step: string) => {
      if (step !== name || isDone) return;
      isDone = true;
      await work();
    };
    await pass(old, { step });
    expect(isDone).toBe(true);
    expect((await parts())[0]).toMatch(/^events_until_/);
  }
  const counts = async () => {
    const all = await countByName(database.db, project.id, sqlSpan({ from: null, until: null }, dayMs));
    return Object.fromEntries(all.map(({ name, count }) => [name, count]));
  };

  test.each(['copy', 'index', 'catch up', 'drop'])(
    'what is changed or deleted before the step "%s" is taken over',
    async (step) => {
      const [deleted, erased, late = ''] = await fill(8, 60, names);
      const { db } = database;
      const mail = firstIdAt(inDays(-3));
      await rows(
        `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, status, message_id, sent_at, opened_at, opens, created_at)
       values ($3, $1, $2, 'p@kunde.example', $4, 'TRANSACTIONAL', 'TRANSACTIONAL', 'OPENED', 'm-1', now() - interval '3 days', now() - interval '1 day', 1, now() - interval '3 days')`,
        [project.id, late, mail, project.sender],
      );
      await rows(
        `insert into events (id, project_id, contact_id, email_id, name, data, created_at, mail_at)
       select uuidv7('-1 day'), $1, contact_id, id, 'email.open', '{}', opened_at, opened_at from emails where project_id = $1`,
        [project.id],
      );
      await divide();
      await passWith(step, async () => {
        await rows('delete from contacts where id = $1', [deleted]);
        const subject = { projectId: project.id, contactId: erased } as Parameters<typeof emptyEvents>[1];
        expect((await emptyEvents(db, subject)).rows).toBe(60);
        const report = {
          ...{
            key: 'again',
            at: inDays(-2).toISOString(),
            emailId: mail,
            projectId: project.id,
            recipient: 'p@kunde.example',
            messageId: 'm-1',
          },
          effect: { kind: 'open' },
        } as Notification;
        expect(
          await applyNotification(db.session(), 'test', { emailId: mail, projectId: project.id }, report, true),
        ).toBe('done');
      });
      expect(await rows('select from events where contact_id = $1', [deleted])).toEqual([]);
      expect(await rows('select name, data from events where contact_id = $1 order by name', [erased])).toEqual(
        names.toSorted().map((name) => ({ name, data: null })),
      );
      expect(
        await rows(
          `select mail_at < now() - interval '47 hours' as early from events where name = 'email.open' and created_at < now() - interval '1 hour'`,
        ),
      ).toEqual(step === 'copy' ? [] : [{ early: true }]);
      expect(await counts()).toMatchObject({ 'app.opened': 140, 'page.seen': 140, 'order.paid': 140 });
      expect(await rows('select from events_touched')).toEqual([]);
      // Of each contact the last of each name.
      expect(await rows(`select count(*)::int as events from events where name = any ($1)`, [names])).toEqual([
        { events: 7 * 3 },
      ]);
    },
  );

  test.each(['copy', 'catch up', 'drop'])('what comes to be needed before the step "%s" stays', async (step) => {
    const people = await fill(8, 60, names);
    const { id: automation } = await anAutomation(database.db, project.id, {
      event: 'page.seen',
      steps: { out: ['EXIT'] },
    });
    const oldest = async (person = '') => {
      const [row] = await rows<{ id: string }>(
        `select id from events where contact_id = $1 and name = 'page.seen' order by id limit 1`,
        [person],
      );
      return row?.id ?? '';
    };
    const [arrival, cause, pending] = [await oldest(people[0]), await oldest(people[1]), await oldest(people[2])];
    await divide();
    await passWith(step, async () => {
      await rows(
        `insert into automation_arrivals (automation_id, project_id, contact_id, event_id) select $1, project_id, contact_id, id from events where id = $2`,
        [automation, arrival],
      );
      const [run] = await letIn(database.db, { id: automation, projectId: project.id, steps: {} }, [people[1] ?? '']);
      await rows(`update automation_runs set source_event_id = $2, status = 'WAITING' where id = $1`, [run?.id, cause]);
      await rows(
        `with endpoint as (
           insert into webhook_endpoints (id, project_id, url, events, secret_sealed, cursor_at, cursor_id, counted_from)
           values (uuidv7(), $1, 'https://crm.example.com', '{*}', '', now() + interval '1 hour', uuidv7(), now()) returning id)
         insert into webhook_deliveries (id, endpoint_id, sequence, event_id, event_name, event_at, status)
         select uuidv7(), endpoint.id, 1, e.id, e.name, e.created_at, 'PENDING' from endpoint, events e where e.id = $2`,
        [project.id, pending],
      );
      await rows(
        `insert into segments (id, project_id, name, type, condition) values (uuidv7(), $1, 'Often', 'DYNAMIC', $2)`,
        [
          project.id,
          JSON.stringify({
            logic: 'AND',
            groups: [{ filters: [{ field: 'event.order.paid', operator: 'triggered', times: { atLeast: 9 } }] }],
          }),
        ],
      );
    });
    const left = await rows<{ id: string }>('select id from events where id = any ($1)', [[arrival, cause, pending]]);
    expect(left).toHaveLength(3);
    expect(await rows(`select count(*)::int as paid from events where name = 'order.paid'`)).toEqual([
      { paid: 8 * 20 },
    ]);
    expect(await rows(`select count(*)::int as opened from events where name = 'app.opened'`)).toEqual([{ opened: 8 }]);
  });

  test('a longer retention gives up what was begun, and nothing is gone', async () => {
    await fill(4, 60, names);
    await divide();
    const stop = new Error('stopped');
    const step = (name: string) => {
      if (name === 'index') throw stop;
    };
    await expect(pass(old, { step })).rejects.toBe(stop);
    expect(await rows('select copied_before is null as idle from event_counts_state')).toEqual([{ idle: false }]);
    await removeOldEvents(database.db, { days: 90, leastDays: 0 }, old, 1_000, partPace);
    expect(await rows('select copied_before is null as idle from event_counts_state')).toEqual([{ idle: true }]);
    expect(await rows(`select from pg_class where relname like 'events_until%'`)).toEqual([]);
    expect(await rows('select count(*)::int as events from events')).toEqual([{ events: 240 }]);
  });

  test('where more than half of the events stay, the others are deleted as in one table', async () => {
    await fill(
      10,
      40,
      Array.from({ length: 32 }, (_, n) => `thing.${n}`),
    );
    await divide();
    const said: string[] = [];
    await pass(old, { leastBytes: 0, say: (line) => said.push(line) });
    expect(said.join('\n')).toContain('more than half of the events before');
    expect((await parts())[0]).toBe('events_before');
    expect(await rows(`select from pg_class where relname like 'events_until%'`)).toEqual([]);
    expect(await rows('select count(*)::int as events from events')).toEqual([{ events: 320 }]);
    const steps: string[] = [];
    await pass(old, { leastBytes: 0, step: (name) => void steps.push(name) });
    expect(steps).not.toContain('begin');
    expect(await counts()).toMatchObject({ 'thing.0': 20, 'thing.31': 10 });
  });

  test('a reader that holds the table puts it off, and loses nothing', async () => {
    await fill(4, 60, names);
    await divide();
    await withClient(async (reader) => {
      await reader.query('begin; select count(*) from events');
      await expect(pass(old, { lockMs: 20, lockTries: 3 })).rejects.toMatchObject({ code: '55P03' });
      // Whoever records something meanwhile waits for no lock for longer.
      await database.db.rows(recordingEvents({ events: [{ projectId: project.id, name: 'probe' }] }));
      await reader.query('commit');
    });
    await pass(old);
    expect((await parts())[0]).toMatch(/^events_until_/);
    expect(await rows(`select name, count(*)::int as events from events group by 1 order by 1`)).toEqual([
      ...['app.opened', 'order.paid', 'page.seen'].map((name) => ({ name, events: 4 })),
      { name: 'probe', events: 1 },
    ]);
  });
});

describe('beside traffic', () => {
  test('the table is divided, cut and dropped, every request is answered, and every event is counted', {
    timeout: 300_000,
  }, async () => {
    // A request that waits for a lock is refused after this time.
    await using api = await testApi(database, { DATABASE_LOCK_TIMEOUT: '3' });
    const people = await fill(50, 60, ['probe']);
    let over = false;
    let tracked = 0;
    const traffic = Promise.all(
      Array.from({ length: 3 }, async (_, lane) => {
        while (!over) {
          const answers = await Promise.all([
            api.call(project.publicKey, 'POST', '/v1/track', { email: `p${lane + 1}@kunde.example`, event: 'probe' }),
            api.call(project.secretKey, 'GET', '/activity?types=event.triggered'),
            api.call(project.secretKey, 'GET', `/events?contactId=${people[lane]}`),
          ]);
          for (const answer of answers as Answer[])
            expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
          tracked += 1;
        }
      }),
    );
    const change = async () => {
      await divide();
      await countNewEvents(database.db);
      await pass(inDays(60));
      await pass(inDays(60));
    };
    await Promise.all([
      change().finally(() => {
        over = true;
      }),
      traffic,
    ]);
    expect((await parts())[0]).toMatch(/^events_until_/);
    const all = await countByName(database.db, project.id, sqlSpan({ from: null, until: null }, dayMs));
    expect(all.find(({ name }) => name === 'probe')?.count).toBe(50 * 60 + tracked);
    expect(await rows(`select count(distinct contact_id)::int as people from events where name = 'probe'`)).toEqual([
      { people: 50 },
    ]);
  });
});

describe('later migrations', () => {
  const withNext = (...next: string[][]) => [
    ...migrations,
    ...next.map((statements, n) => ({
      name: `Migration2999010100000${n}_next`,
      class: class extends Migration {
        override up(): void {
          for (const statement of statements) this.addSql(statement);
        }
      },
    })),
  ];
  const create = 'create index events_probe on events (project_id, created_at) where mail_at is null';
  const probes = () =>
    rows<{ name: string; valid: boolean; what: string }>(
      `select t.relname as name, i.indisvalid as valid, pg_get_indexdef(i.indexrelid) as what from pg_index i join pg_class c on c.oid = i.indexrelid
       join pg_class t on t.oid = i.indrelid where c.relname like '%probe%' or i.indexrelid in (select inhrelid from pg_inherits where inhparent = to_regclass('events_probe')) order by t.relname <> 'events', pg_get_expr(t.relpartbound, t.oid) not like '%(MINVALUE)%', 1`,
    );

  test('build an index for each part beside traffic, continue where they died, replace it, and later parts have it', async () => {
    await divide(inDays(-60));
    await fill(4, 60, ['app.opened'], 30);
    const said: string[] = [];
    const pace = { largeBytes: 0, lockMs: 200, say: (line: string) => void said.push(line) };
    const [first = '', second = ''] = await parts();
    await withClient(async (writer) => {
      await writer.query(`begin; lock table ${second} in row exclusive mode`);
      const running = migrateDatabase(database.url, { list: withNext([create]), pace });
      const refused = expect(running).rejects.toThrow();
      const waiting = async () => {
        // Until the writer commits; at the first part it waits for moments at most, such as for autovacuum.
        const [row] = await rows<{ pid: number }>(
          `select pid from pg_stat_activity where datname = current_database() and application_name = 'fernpost-migrate' and wait_event_type = 'Lock'
             and query like '%' || $1 || '%'`,
          [second],
        );
        return row?.pid ?? 0;
      };
      await expect.poll(waiting).toBeGreaterThan(0);
      // The first part has it, and requests go on.
      await rows(`insert into events (id, project_id, name) values (uuidv7('-30 days'), $1, 'probe')`, [project.id]);
      await rows('select pg_terminate_backend($1)', [await waiting()]);
      await refused;
      await writer.query('commit');
    });
    expect((await probes()).map(({ name, valid }) => [name, valid])).toEqual([
      ['events', false],
      [first, true],
      [second, false],
    ]);
    await migrateDatabase(database.url, { list: withNext([create]), pace });
    expect((await probes()).every(({ valid }) => valid)).toBe(true);
    expect(said.join('\n')).toMatch(/index events_probe, [\d,]+ rows of events/);

    const replaced = ['drop index events_probe', create.replace('is null', 'is not null')];
    await migrateDatabase(database.url, { list: withNext([create], replaced), pace });
    const now = await probes();
    expect(now.map(({ name }) => name)).toEqual(['events', first, second]);
    expect(now.every(({ valid, what }) => valid && what.includes('IS NOT NULL') && !what.includes('_new'))).toBe(true);

    await pass(inDays(-10));
    await pass(inDays(60));
    const names = await parts();
    expect(names[0]).toMatch(/^events_until_/);
    expect((await probes()).map(({ name }) => name)).toEqual(['events', ...names]);
    expect((await probes()).every(({ valid }) => valid)).toBe(true);
  });
});
