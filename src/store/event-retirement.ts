import type { ClientBase } from 'pg';
import { firstIdAt, instantOf, leastId } from '../lib/ids.ts';
import { dayAt } from '../lib/time.ts';
import { type Retention, removeByAge } from './columns.ts';
import {
  copyName,
  type EventPart,
  eventParts,
  extend,
  forgetCopy,
  giveUpCut,
  inTurn,
  longestKept,
  type PartPace,
  partPace,
  range,
  settingsOf,
} from './event-parts.ts';
import { byIndexes, type Database } from './sql.ts';

// Where the events are divided, parts that are older than every retention are dropped. What stays of them (`removable_events`, the rule of the walk) is
// copied beside traffic into the part that takes their place; whoever changes or deletes a row of them meanwhile notes it in `events_touched`. No count is
// touched, for no row is deleted.

/** A row of `retention_cursors`: up to where rows are copied. */
const copying = 'events that stay';
/** From which execution on those are looked at that may need an event by now. */
const since = 'events that stay since';
/** Before which event parts are left to the walk, since too much of them stays. */
const leftToWalk = 'events left to the walk';

interface Work {
  client: ClientBase;
  pace: PartPace;
  /** What is older may go. */
  cutoff: Date;
  /** Whether only projects with an age of their own lose events. */
  isOwn: boolean;
}

/**
 * Removes old events: by `removeByAge`, and where an operator has divided the table, by dropping its old parts. Does so much as fits into some minutes, and
 * goes on there the next time. Answers how many events went, or will with the part that they are in.
 */
export async function removeOldEvents(
  db: Database,
  retention: Retention,
  now: Date,
  limit: number,
  pace = partPace,
): Promise<number> {
  const client = await db.pool.connect();
  const lost = () => undefined;
  client.on('error', lost);
  let failed: Error | undefined;
  let kept = { gone: 0, through: undefined as string | undefined };
  try {
    kept = await keepParts(client, retention, now, pace);
  } catch (error) {
    failed = error as Error;
    throw error;
  } finally {
    client.off('error', lost);
    client.release(failed);
  }
  return kept.gone + (await removeByAge(db, 'events', retention, now, limit, kept.through));
}

/** Drops the parts that are old and makes the next one. `through` is where the walk for what is kept longest ends: it has the oldest part, and what is left to it. */
async function keepParts(
  client: ClientBase,
  retention: Retention,
  now: Date,
  pace: PartPace,
): Promise<{ gone: number; through: string | undefined }> {
  if ((await eventParts(client)).length === 0) return { gone: 0, through: undefined };
  const days = await longestKept(client, retention);
  // First, for whatever fails after it would fail the next time as well.
  const isGivenUp = await giveUpCut(client, now, pace, days !== null);
  if (days === null) {
    await inTurn(client, pace, 'forget', () => forgetCopy(client));
    return { gone: 0, through: undefined };
  }
  const work = { client, pace, cutoff: dayAt(now, -days), isOwn: retention.days === null };
  const gone = await dropOld(work);
  if (!isGivenUp) await extend(client, days, now, pace);
  await analyzeDaily(client);
  const [oldest] = await eventParts(client);
  const left = await cursorOf(client, leftToWalk);
  return { gone, through: [oldest?.until ?? leastId, left].toSorted().at(-1) };
}

// Autovacuum sees parts only, and no table that is divided.
async function analyzeDaily(client: ClientBase): Promise<void> {
  const { rows } = await client.query(
    `select from pg_stat_user_tables where relid = 'events'::regclass and last_analyze > now() - interval '1 day'`,
  );
  if (rows.length === 0) await client.query('analyze events');
}

async function cursorOf(client: ClientBase, rule: string): Promise<string> {
  const { rows } = await client.query<{ through: string }>('select through from retention_cursors where rule = $1', [
    rule,
  ]);
  return rows[0]?.through ?? leastId;
}

async function setCursor(client: ClientBase, rule: string, through: string): Promise<void> {
  await client.query(
    'insert into retention_cursors (rule, through) values ($1, $2) on conflict (rule) do update set through = excluded.through',
    [rule, through],
  );
}

async function dropOld(work: Work): Promise<number> {
  const { client, pace, cutoff } = work;
  let before = await copiedBefore(client);
  // Somebody keeps events for longer than when it began.
  if (before !== null && before > firstIdAt(cutoff)) {
    await inTurn(client, pace, 'forget', () => forgetCopy(client));
    before = null;
  }
  before ??= await begin(work);
  if (before === null) return 0;
  const old = (await eventParts(client)).filter(({ until }) => until <= before);
  const { gone, isThrough } = await copy(work, old, before);
  if (isThrough) await replace(work, old, before);
  return gone;
}

// Executions get their IDs a moment before they are committed, and by other clocks.
const moment = () => new Date(Date.now() - 10 * 60_000);

async function copiedBefore(client: ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ before: string | null }>(
    'select copied_before as before from event_counts_state',
  );
  return rows[0]?.before ?? null;
}

/** Begins to copy what stays of the parts that are old; null where there is none, or none but what was copied before. */
async function begin({ client, pace, cutoff }: Work): Promise<string | null> {
  const old = (await eventParts(client)).filter(({ until }) => until <= firstIdAt(cutoff));
  const before = old.at(-1)?.until;
  if (before === undefined || copyName(before) === old[0]?.name || before <= (await cursorOf(client, leftToWalk)))
    return null;
  const part = copyName(before);
  await inTurn(client, pace, 'begin', async () => {
    // Whoever is changing rows of these parts has ended before anything is copied, and whoever comes later notes it.
    await client.query(`lock table ${old.map(({ name }) => name).join(', ')} in share mode`);
    await client.query('delete from events_touched');
    await client.query('update event_counts_state set copied_before = $1', [before]);
    await client.query(`drop table if exists ${part}`);
    await client.query(`create table ${part} (like events including all excluding indexes, constraint ${part}_pkey primary key (id),
      constraint ${part}_check check (id < '${before}')) ${await settingsOf(client, old[0]?.name ?? '')}`);
    await setCursor(client, copying, leastId);
    await setCursor(client, since, firstIdAt(moment()));
  });
  return before;
}

/** Runs a step of a copy that is under way. @throws where another process has ended it */
function inCopy({ client, pace }: Work, name: string, before: string, step: () => Promise<void>): Promise<void> {
  return inTurn(client, pace, name, async () => {
    if ((await copiedBefore(client)) !== before) throw new Error('Another process has ended the copy of old events');
    await step();
  });
}

/** Copies what stays, a page in a transaction, for some minutes at most. Gives up where it is so much that deleting the rest costs less. */
async function copy(
  work: Work,
  old: readonly EventPart[],
  before: string,
): Promise<{ gone: number; isThrough: boolean }> {
  const { client, pace } = work;
  const end = performance.now() + pace.longestMs;
  let gone = 0;
  for (let isThrough = false; !isThrough; ) {
    if (performance.now() > end) return { gone, isThrough: false };
    let isTooMuch = false;
    await inCopy(work, 'copy', before, async () => {
      const page = await copyPage(work, before);
      gone += page.gone;
      isThrough = page.isThrough;
      isTooMuch = await staysTooMuch(work, old, before);
      if (!isTooMuch) return;
      await forgetCopy(client);
      await setCursor(client, leftToWalk, before);
    });
    if (isTooMuch) {
      pace.say(
        `more than half of the events before ${instantOf(before).toISOString().slice(0, 10)} stay, so that the others are deleted`,
      );
      return { gone: 0, isThrough: false };
    }
  }
  return { gone, isThrough: true };
}

async function copyPage(
  { client, pace, cutoff, isOwn }: Work,
  before: string,
): Promise<{ gone: number; isThrough: boolean }> {
  await client.query(byIndexes);
  const place = await cursorOf(client, copying);
  const { rows } = await client.query<{ id: string; ages: boolean }>(
    `select e.id, ${isOwn ? 'p.event_retention_days is not null' : 'true'} as ages
     from events e ${isOwn ? 'left join projects p on p.id = e.project_id' : ''}
     where e.id > $1 and e.id < $2 order by e.id limit $3`,
    [place, before, pace.rows],
  );
  const last = rows.at(-1);
  if (last === undefined) return { gone: 0, isThrough: true };
  const aging = rows.flatMap(({ id, ages }) => (ages ? [id] : []));
  const { rows: going } = await client.query<{ id: string }>('select unnest(removable_events($1, $2)) as id', [
    aging,
    cutoff.toISOString(),
  ]);
  const gone = new Set(going.map(({ id }) => id));
  await client.query(
    `insert into ${copyName(before)} select e.* from events e where e.id = any ($1::uuid[]) on conflict do nothing`,
    [rows.flatMap(({ id }) => (gone.has(id) ? [] : [id]))],
  );
  await setCursor(client, copying, last.id);
  return { gone: gone.size, isThrough: rows.length < pace.rows };
}

// What stays is written again with all its indexes, which costs as much as deleting as many others: half is where it gains nothing any more.
async function staysTooMuch({ client, pace }: Work, old: readonly EventPart[], before: string): Promise<boolean> {
  const { rows } = await client.query<{ much: boolean }>(
    `select pg_relation_size($1::regclass) > greatest($2::bigint, (select sum(pg_relation_size(name::regclass)) / 2 from unnest($3::text[]) name)) as much`,
    [copyName(before), pace.leastBytes, old.map(({ name }) => name)],
  );
  return rows[0]?.much === true;
}

/** Puts what was copied in the place of the old parts, and drops them. */
async function replace(work: Work, old: readonly EventPart[], before: string): Promise<void> {
  // Somebody may save a condition, or the migrator add an index, between the catch-up and the lock.
  for (let tries = 1; tries <= 5; tries++) {
    await index(work, before);
    const asked = await catchUp(work, before);
    if (await swap(work, old, before, asked)) {
      const dropped = old.map(({ name }) => name).join(', ');
      return work.pace.say(`${dropped} dropped; what stays of them is in ${copyName(before)}`);
    }
  }
}

interface IndexOfAll {
  name: string;
  definition: string;
}

async function missingIndexes({ client }: Work, part: string): Promise<IndexOfAll[]> {
  const { rows } = await client.query<IndexOfAll>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = 'events'::regclass and not i.indisprimary and to_regclass($1 || '_' || regexp_replace(c.relname, '^events_', '')) is null order by 1`,
    [part],
  );
  return rows;
}

async function index(work: Work, before: string): Promise<void> {
  const { client } = work;
  const part = copyName(before);
  for (const { name, definition } of await missingIndexes(work, part))
    await inCopy(work, 'index', before, async () => {
      const own = `${part}_${name.replace(/^events_/, '')}`;
      await client.query(definition.replace(/INDEX \S+ ON ONLY \S+/, `INDEX IF NOT EXISTS ${own} ON ${part}`));
    });
  await client.query(`analyze ${part}`);
}

/** Returns false where something has changed since the catch-up, which is then repeated. */
async function swap(work: Work, old: readonly EventPart[], before: string, asked: string): Promise<boolean> {
  const { client } = work;
  const part = copyName(before);
  let isDone = false;
  await inCopy(work, 'drop', before, async () => {
    // Nearly all of what has changed is taken over before anybody has to wait.
    await catchUpTouched(work, before);
    if ((await askedMore(work)) !== asked || (await missingIndexes(work, part)).length > 0) return;
    await client.query('lock table events in access exclusive mode');
    // A clock that is far behind makes events that belong there.
    if (!(await copyPage(work, before)).isThrough) return;
    await catchUpTouched(work, before);
    await catchUpNeeded(work, before);
    for (const { name } of old) {
      await client.query(`alter table events detach partition ${name}`);
      await client.query(`drop table ${name}`);
    }
    await client.query(`alter table events attach partition ${part} ${range(leastId, before)}`);
    await client.query(`alter table ${part} drop constraint ${part}_check`);
    await client.query('update event_counts_state set copied_before = null');
    await client.query('delete from retention_cursors where rule = any ($1)', [[copying, since]]);
    await noteRemoved(work, before);
    isDone = true;
  });
  return isDone;
}

/** Takes over what came to stay, or changed, since it was copied. Answers what is asked of the past. */
async function catchUp(work: Work, before: string): Promise<string> {
  const { client } = work;
  let asked = '';
  await inCopy(work, 'catch up', before, async () => {
    asked = await askedMore(work);
    await client.query(byIndexes);
    await client.query(
      `insert into ${copyName(before)} select e.* from narrowed_names(array(select id from projects)) f
         join events e on e.project_id = f.project_id and e.name = f.name and e.id < $1 on conflict do nothing`,
      [before],
    );
    if (work.isOwn)
      await client.query(
        `insert into ${copyName(before)} select e.* from projects p join events e on e.project_id = p.id and e.id < $1
         where p.event_retention_days is null on conflict do nothing`,
        [before],
      );
    await catchUpNeeded(work, before);
    await catchUpTouched(work, before);
    await setCursor(client, since, firstIdAt(moment()));
  });
  return asked;
}

/** What saved conditions ask more of, and who keeps all events: while it is the same, nothing else has come to stay because of them. */
async function askedMore({ client, isOwn }: Work): Promise<string> {
  const { rows } = await client.query<{ asked: string }>(
    `select md5(string_agg(asked, ',' order by asked)) as asked from (
       select project_id || ' ' || name from narrowed_names(array(select id from projects))
       union all select id::text from projects where $1 and event_retention_days is null) a (asked)`,
    [isOwn],
  );
  return rows[0]?.asked ?? '';
}

/** Events that something has come to need since they were looked at. */
async function catchUpNeeded({ client }: Work, before: string): Promise<void> {
  await client.query(
    `insert into ${copyName(before)}
     select e.* from events e where e.id < $1 and e.id = any (array(
       select event_id from automation_arrivals where event_id < $1
       union all select source_event_id from automation_runs where id >= $2 and source_event_id < $1 and status in ('RUNNING', 'WAITING')
       union all select d.event_id from webhook_endpoints w cross join lateral (
         select event_id from webhook_deliveries d where d.endpoint_id = w.id and d.event_at < $3 and d.status = 'PENDING') d)) on conflict do nothing`,
    [before, await cursorOf(client, since), instantOf(before).toISOString()],
  );
}

const touchedAtOnce = 10_000;

/** Copies the rows again that were changed since they were copied, and forgets those that were deleted. */
async function catchUpTouched({ client }: Work, before: string): Promise<void> {
  for (let touched = touchedAtOnce; touched === touchedAtOnce; ) {
    const { rows } = await client.query<{ id: string }>(
      'delete from events_touched where id in (select id from events_touched limit $1) returning id',
      [touchedAtOnce],
    );
    touched = rows.length;
    if (touched === 0) return;
    const { rows: copied } = await client.query<{ id: string }>(
      `delete from ${copyName(before)} where id = any ($1::uuid[]) returning id`,
      [rows.map(({ id }) => id)],
    );
    await client.query(
      `insert into ${copyName(before)} select e.* from events e where e.id = any ($1::uuid[]) and e.id < $2`,
      [copied.map(({ id }) => id), before],
    );
  }
}

/** Notes that not all events from before are there any more, and that the walk has nothing to look for in what stays. */
async function noteRemoved({ client, isOwn }: Work, before: string): Promise<void> {
  await client.query(
    `insert into retention_cursors as c (rule, through)
     select rule, $1::uuid from (
       select 'events' where not $2 union all select 'removed events' where not $2
       union all select 'removed events ' || id from projects where $2 and event_retention_days is not null and created_at < $3) noted (rule)
     on conflict (rule) do update set through = greatest(c.through, excluded.through)`,
    [before, isOwn, instantOf(before).toISOString()],
  );
}
