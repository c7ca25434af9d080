import { randomUUID } from 'node:crypto';
import { readConfig } from '../src/lib/config/config.ts';
import { startApi } from '../src/main/api/api-runtime.ts';
import { createFirstProject, type FirstProjectFacts } from '../src/main/projects/first-project.ts';
import { createLogger } from '../src/main/setup/process.ts';
import { touchedProjects } from '../src/segments/changes.ts';
import { computeSegment } from '../src/segments/service.ts';
import { settleSegment } from '../src/segments/settle.ts';
import type { Database } from '../src/store/sql.ts';
import { audienceSize, fillAudience } from './support/audience.ts';
import { benchServices, benchStore } from './support/services.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const repeats = 15;

const all = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
const any = (...filters: object[]) => ({ logic: 'OR', groups: filters.map((filter) => ({ filters: [filter] })) });
const data = (key: string, operator: string, value?: unknown) => ({ field: `data.${key}`, operator, value });
const event = (name: string, operator: string, value?: number) => ({
  field: `event.${name}`,
  operator,
  value,
  unit: 'days',
});

/** Conditions of every cost, from one that an index answers to one that has to check every contact. */
const conditions: Record<string, object> = {
  'plan = pro': all(data('plan', 'equals', 'pro')),
  'score > 900 and country = DE': all(data('score', 'greaterThan', 900), data('country', 'equals', 'DE')),
  'bought within 30 days': all(event('purchase', 'triggeredWithin', 30)),
  'bought within 30 days, no login ever': all(event('purchase', 'triggeredWithin', 30), event('login', 'notTriggered')),
  'a refund, ever': all(event('refund', 'triggered')),
  'no login within 60 days': all(event('login', 'notTriggeredWithin', 60)),
  'pro or bought within 30 days': any(data('plan', 'equals', 'pro'), event('purchase', 'triggeredWithin', 30)),
  'email contains "n.4242"': all({ field: 'email', operator: 'contains', value: 'n.4242' }),
  subscribed: all({ field: 'subscribed', operator: 'equals', value: true }),
};

// The bare SQL of the diff, as one would write it by hand for these conditions, keeping what we keep: memberships, events
// and the count. $1 project, $2 segment, $3 event prefix, $4 payload.
const diff = (matching: string) => `
  with matching as materialized (select id from contacts c where c.project_id = $1 and (${matching})),
  entered as (
    insert into segment_memberships (segment_id, contact_id)
    select $2, id from matching where not exists (
      select from segment_memberships m where m.segment_id = $2 and m.contact_id = matching.id and m.exited_at is null)
    on conflict (segment_id, contact_id) do update set entered_at = excluded.entered_at, exited_at = null
    returning contact_id),
  exited as (
    update segment_memberships m set exited_at = now()
    where m.segment_id = $2 and m.exited_at is null and not exists (select from matching where matching.id = m.contact_id)
    returning contact_id),
  told as (
    insert into events (id, project_id, contact_id, name, data)
    select uuidv7(), $1, contact_id, $3 || '.entry', $4::jsonb from entered
    union all select uuidv7(), $1, contact_id, $3 || '.exit', $4::jsonb from exited)
  update segments set member_count = (select count(*) from matching) where id = $2`;

interface ComputeCase {
  name: string;
  rounds: number;
  condition: object;
  matching: string;
}
const computes: ComputeCase[] = [
  {
    name: 'pro or bought within 30 days',
    rounds,
    condition: conditions['pro or bought within 30 days'] as object,
    matching: `c.data @> '{"plan":"pro"}' or c.id in (
      select contact_id from events where project_id = $1 and name = 'purchase' and created_at >= now() - interval '30 days')`,
  },
  // Most of the audience enters, which takes minutes: once is enough to see that nothing grows faster than it.
  { name: 'subscribed', rounds: 1, condition: conditions.subscribed as object, matching: 'c.subscribed' },
];

/** Lists, counts and computes of segments over a generated audience. */
export async function benchSegments(): Promise<void> {
  const { contacts, events } = audienceSize();
  await using services = await benchServices({ temporal: false });
  const env = {
    ...process.env,
    DATABASE_URL: services.databaseUrl,
    TEMPORAL_ADDRESS: services.temporalAddress,
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'fatal',
  };
  const config = readConfig(env);
  const project = await createFirstProject(config);
  if (project === null) throw new Error('The database of a benchmark must be empty');
  await using store = await benchStore(services.databaseUrl, 2);
  const db = store.db;
  console.log(`\nSegments: ${contacts} contacts, ${events} events, Postgres as npm start runs it`);
  await fillAudience(db, project.projectId, { contacts, events });
  await using api = await startApi({ ...config, PORT: 0 }, createLogger(config, 'api'));
  await lists(api.url, db, project);
  await computesAgainstFloor(db, project);
  await follow(db, project);
}

async function lists(url: string, db: Database, project: FirstProjectFacts): Promise<void> {
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${project.secretKey}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} ${answer.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const show = async (name: string, path: string) => {
    const times: number[] = [];
    let total = 0;
    for (let round = 0; round < repeats; round++) {
      const began = performance.now();
      total = (await call('GET', path)).total;
      times.push(performance.now() - began);
    }
    const matches = total === undefined ? '' : `${total} `;
    console.log(
      `  ${name.padEnd(44)} ${matches.padStart(8)} median ${ms(median(times))}   first ${ms(times[0] ?? 0)}   (goal 100 ms)`,
    );
  };
  console.log(' first pages with their totals, by HTTP');
  const ids: string[] = [];
  for (const [name, condition] of Object.entries(conditions)) {
    const { id } = await call('POST', '/segments', { name, condition });
    ids.push(id);
    await show(name, `/segments/${id}/contacts`);
  }
  await show('page 50 of 100 of "plan = pro"', `/segments/${ids[0]}/contacts?page=50&pageSize=100`);
  const { id } = await call('POST', '/segments', { name: 'Manual', type: 'STATIC' });
  await db.count(
    `insert into segment_memberships (segment_id, contact_id)
     select $1, id from contacts where project_id = $2 and data @> '{"plan":"team"}'`,
    [id, project.projectId],
  );
  await db.rows('vacuum (analyze) segment_memberships');
  await show('a static segment', `/segments/${id}/contacts`);
  for (let number = 0; number < 100; number++) await call('POST', '/segments', { name: `S ${number}`, type: 'STATIC' });
  await show('GET /segments, 110 of them', '/segments');
  await show('GET /segments/{id} with its count', `/segments/${ids[0]}`);
}

async function computesAgainstFloor(db: Database, project: FirstProjectFacts): Promise<void> {
  console.log(' computes, each against its bare SQL diff');
  for (const { name, rounds, condition, matching } of computes) {
    const ours = new Map<string, number[]>();
    const floor = new Map<string, number[]>();
    for (let round = 0; round < rounds; round++) {
      for (const side of round % 2 === 0 ? (['floor', 'ours'] as const) : (['ours', 'floor'] as const)) {
        const id = await aSegment(db, project.projectId, condition);
        const run = async () => {
          if (side === 'ours') return computeSegment(db, project.projectId, id, new Date());
          return db.count(diff(matching), [project.projectId, id, `segment.${id}`, JSON.stringify({ segmentId: id })]);
        };
        const times = side === 'ours' ? ours : floor;
        const timed = async (step: string) => {
          const began = performance.now();
          await run();
          times.set(step, [...(times.get(step) ?? []), performance.now() - began]);
        };
        await timed('everybody enters');
        await db.rows('vacuum (analyze) segment_memberships');
        await timed('nothing changed');
        await flip(db, project.projectId, round * 2 + (side === 'ours' ? 1 : 0));
        await timed('1 % changed');
        await db.count('delete from segments where id = $1', [id]);
        await db.count(`delete from events where project_id = $1 and name like 'segment.%'`, [project.projectId]);
        for (const table of ['segment_memberships', 'events', 'contacts']) await db.rows(`vacuum ${table}`);
      }
    }
    for (const [step, times] of ours) {
      const [mine, bare] = [median(times), median(floor.get(step) ?? [])];
      console.log(
        `  ${`${name}: ${step}`.padEnd(52)} ${ms(mine)}   floor ${ms(bare)}   ratio ${(mine / bare).toFixed(2)} (goal 2)`,
      );
    }
  }
}

/** Measures following changes: finding touched projects, and computing the touched contacts. */
async function follow(db: Database, project: FirstProjectFacts): Promise<void> {
  console.log(' following changes');
  const condition = conditions['pro or bought within 30 days'] as object;
  const ids: string[] = [];
  for (let number = 0; number < 100; number++) ids.push(await aSegment(db, project.projectId, condition));
  await computeSegment(db, project.projectId, ids[0] ?? '', new Date());
  const settle = `update segments set settled_through = now(), evaluated_at = now() where track_membership`;
  await db.count(settle);
  const idle: number[] = [];
  for (let round = 0; round < repeats; round++) {
    const began = performance.now();
    const touched = await touchedProjects(db);
    idle.push(performance.now() - began);
    if (touched.length > 0) throw new Error('Nothing has changed');
  }
  console.log(`  the watch over 100 settled segments  ${ms(median(idle))}`);
  for (const changed of [10, 1_000, 10_000]) {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      await db.count(settle);
      await db.count(
        `update contacts set data = data || '{"touched":true}', updated_at = now()
         where id in (select id from contacts where project_id = $1 order by id offset $2 limit $3)`,
        [project.projectId, round * 10_000, changed],
      );
      const began = performance.now();
      const settling = await settleSegment(db, ids[0] ?? '', { now: new Date(), windowsSince: null });
      times.push(performance.now() - began);
      if (settling.outcome !== 'computed') throw new Error(`The segment was ${settling.outcome}`);
    }
    console.log(`  compute after ${changed} contacts changed`.padEnd(40), ms(median(times)));
  }
}

async function aSegment(db: Database, projectId: string, condition: object): Promise<string> {
  const id = randomUUID();
  await db.count(
    `insert into segments (id, project_id, name, type, condition, track_membership, watched_events, reads_contacts, has_window)
     values ($1, $2, 'Bench', 'DYNAMIC', $3, true, '{purchase}', true, true)`,
    [id, projectId, JSON.stringify(condition)],
  );
  return id;
}

/** Changes plan and subscription of one contact in a hundred, other ones each time. */
async function flip(db: Database, projectId: string, part: number): Promise<void> {
  await db.count(
    `update contacts set subscribed = not subscribed, updated_at = now(),
       data = data || jsonb_build_object('plan', case when data ->> 'plan' = 'pro' then 'free' else 'pro' end)
     where project_id = $1 and ('x' || substr(md5(email), 1, 4))::bit(16)::int % 100 = $2`,
    [projectId, part % 100],
  );
}

function median(times: readonly number[]): number {
  return [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function ms(time: number): string {
  return `${time.toFixed(time < 100 ? 1 : 0)} ms`.padStart(10);
}

if (import.meta.main) await benchSegments();
