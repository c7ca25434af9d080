import type { ClientBase } from 'pg';
import { firstIdAt, greatestId, instantOf, leastId } from '../lib/ids.ts';
import { dayAt } from '../lib/time.ts';
import type { Retention } from './columns.ts';
import { inShortLocks, type MigrationPace } from './run-migrations.ts';

// An operator may divide the table of events by the time of its IDs, so that what is old is dropped and not deleted (docs/decisions/0051). The catalog of
// Postgres is the record of the parts. Each step is a transaction, begins where the one before has ended, and does nothing when it was done already.

/** A part of the table of events: those from one ID to before another. */
export interface EventPart {
  name: string;
  /** The least ID where it has no beginning. */
  from: string;
  /** The greatest ID where it is open. */
  until: string;
  /** With its indexes. */
  bytes: number;
}

/** What an operator asked for and cannot have, in a sentence. */
class EventPartsError extends Error {
  override name = 'EventPartsError';
}

/** How parts are kept. */
export interface PartPace extends MigrationPace {
  /** Rows that are copied in one transaction. */
  rows: number;
  /** The rows that stay may always fill so much, whatever the share. */
  leastBytes: number;
  /** For how long rows are copied before the next hour goes on, in milliseconds. */
  longestMs: number;
  /** Called before each step. */
  step(name: string): void | Promise<void>;
}

/** A request that came after a statement which waits for the table waits so long at most. */
export const partPace: PartPace = {
  say: () => undefined,
  largeBytes: 0,
  lockMs: 250,
  lockTries: 20,
  rows: 1_000,
  leastBytes: 8 * 2 ** 20,
  longestMs: 120_000,
  step: () => undefined,
};

// A third of the retention each, that is one with what stays of all before, four of the retention, and one of the time to come. The days more let the
// oldest go before the next is made.
const mostParts = 6;
const partsOfRetention = 3;
const spareDays = 10;
// A part is made while there is nothing in it yet, so that nothing has to be read for it.
const aheadDays = 3;
// A part that has rows is cut this far ahead: until then there is time to read it, and what comes later is refused if nobody has cut it by then.
const cutAheadDays = 8;
const leastAheadDays = 2;
const cutCheck = 'events_cut';

/** The day of an ID, for the name of a part. */
export const dayName = (id: string) => instantOf(id).toISOString().slice(0, 10).replaceAll('-', '');
const bound = (id: string) => (id === leastId ? 'minvalue' : id === greatestId ? 'maxvalue' : `'${id}'`);
/** What a part has, as SQL. */
export const range = (from: string, until: string) => `for values from (${bound(from)}) to (${bound(until)})`;
const within = (from: string, until: string) =>
  [from === leastId ? [] : `id >= '${from}'`, `id < '${until}'`].flat().join(' and ');

/** The parts in their order; none where the table is not divided. */
export async function eventParts(client: Pick<ClientBase, 'query'>): Promise<EventPart[]> {
  const { rows } = await client.query<{ name: string; bound: string; bytes: number }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound, pg_total_relation_size(c.oid)::float8 as bytes
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass('events')`,
  );
  const parts = rows.map(({ name, bound: text, bytes }) => {
    const [, from = leastId, until = greatestId] =
      /FROM \((?:MINVALUE|'(.+)')\) TO \((?:MAXVALUE|'(.+)')\)/.exec(text) ?? [];
    return { name, from, until, bytes };
  });
  return parts.toSorted((one, other) => (one.from < other.from ? -1 : 1));
}

/** How many days the events are kept that are kept longest by their age; null where none are removed. */
export async function longestKept(client: ClientBase, { days, leastDays }: Retention): Promise<number | null> {
  const { rows } = await client.query<{ days: number | null }>(
    'select coalesce($1::integer, max(greatest(event_retention_days, $2::integer))) as days from projects where event_retention_days is not null',
    [days, leastDays],
  );
  return rows[0]?.days ?? null;
}

/** Runs a step, unless another process is at one. Those who follow changes of tables take it for a migration, and wait for it no longer than for one. */
export async function inTurn(
  client: ClientBase,
  pace: PartPace,
  name: string,
  work: () => Promise<void>,
): Promise<void> {
  await pace.step(name);
  await inShortLocks(client, pace, async () => {
    await client.query(`set local application_name = 'fernpost-migrate'; set local statement_timeout = 0`);
    const { rows } = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_xact_lock(hashtextextended('parts of events', 0)) as taken`,
    );
    if (!rows[0]?.taken)
      throw new EventPartsError('Another process is at work on the parts of events. Try again later.');
    await work();
  });
}

// What is bound to the table itself and not to its name would stay with the part.
const boundToIt = `
  select string_agg(distinct what, ', ') as what from (
    select 'the view ' || r.ev_class::regclass from pg_depend d join pg_rewrite r on r.oid = d.objid
      where d.refobjid = 'events'::regclass and d.classid = 'pg_rewrite'::regclass and r.ev_class <> 'events'::regclass
    union all select 'the rule ' || rulename from pg_rewrite where ev_class = 'events'::regclass
    union all select 'the publication ' || p.pubname from pg_publication_rel m join pg_publication p on p.oid = m.prpubid where m.prrelid = 'events'::regclass
    union all select 'the policy ' || polname from pg_policy where polrelid = 'events'::regclass
    union all select 'the foreign key ' || conname from pg_constraint where confrelid = 'events'::regclass) bound (what)`;

// The table of today becomes the one part of another that takes its name: nothing is read or written, for not null is all that such a range asks for.
const divided = `do $$
  declare
    old constant regclass := 'events';
    owner constant text := (select relowner::regrole from pg_class where oid = old);
    indexes constant text[] := array(select pg_get_indexdef(indexrelid) from pg_index where indrelid = old and not indisprimary);
    triggers constant text[] := array(select pg_get_triggerdef(oid) from pg_trigger where tgrelid = old and not tgisinternal);
    named record;
    definition text;
  begin
    for named in select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = old loop
      execute format('alter index %I rename to %I', named.name, 'events_before_' || regexp_replace(named.name, '^events_', ''));
    end loop;
    for named in select tgname as name from pg_trigger where tgrelid = old and not tgisinternal loop
      execute format('drop trigger %I on events', named.name);
    end loop;
    alter table events rename to events_before;
    create table events (like events_before including all excluding indexes, constraint events_pkey primary key (id)) partition by range (id);
    execute 'alter table events owner to ' || owner;
    for named in
      select a.privilege_type || ' on events to ' || case a.grantee when 0 then 'public' else a.grantee::regrole::text end
        || case when a.is_grantable then ' with grant option' else '' end as privilege
      from pg_class c cross join aclexplode(c.relacl) a where c.oid = old and a.grantee <> c.relowner loop
      execute 'grant ' || named.privilege;
    end loop;
    foreach definition in array indexes || triggers loop
      execute definition;
    end loop;
    alter table events attach partition events_before for values from (minvalue) to (maxvalue);
  end $$`;

const undivided = (part: string) => `do $$
  declare
    triggers constant text[] := array(select pg_get_triggerdef(oid) from pg_trigger where tgrelid = 'events'::regclass and not tgisinternal);
    named record;
    definition text;
  begin
    alter table events detach partition ${part};
    alter table ${part} drop constraint if exists ${cutCheck};
    drop table events;
    alter table ${part} rename to events;
    for named in select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = 'events'::regclass loop
      execute format('alter index %I rename to %I', named.name, 'events_' || regexp_replace(named.name, '^${part}_', ''));
    end loop;
    foreach definition in array triggers loop
      execute definition;
    end loop;
  end $$`;

/**
 * Divides the table of events beside traffic, and cuts it at an instant some days ahead. Goes on where it was interrupted. Returns what it came to.
 * @throws EventPartsError where it is not possible, or would be of no use
 */
export async function divideEvents(
  client: ClientBase,
  retention: Retention,
  now: Date,
  pace = partPace,
): Promise<string> {
  const kept = await longestKept(client, retention);
  if (kept === null)
    throw new EventPartsError('No events are removed by their age (EVENT_RETENTION_DAYS), so a division gains nothing');
  if ((await eventParts(client)).length === 0) {
    const { rows } = await client.query<{ what: string | null }>(boundToIt);
    if (rows[0]?.what)
      throw new EventPartsError(
        `${rows[0].what} would stay with the first part alone. Drop it, divide, and make it again`,
      );
    await inTurn(client, pace, 'divide', async () => {
      await client.query('lock table events in access exclusive mode');
      await client.query(divided);
    });
    pace.say('events is divided: all of it is the part events_before');
  }
  await client.query('analyze events');
  await giveUpCut(client, now, pace, true);
  await extend(client, kept, now, pace);
  const parts = await eventParts(client);
  return `Events are divided into ${parts.length} parts, which retention drops ${kept} days after their end: ${parts.map(({ name }) => name).join(', ')}`;
}

/** Makes one table of events again, while there is one part or the others are empty. @throws EventPartsError where there are more */
export async function undivideEvents(client: ClientBase, pace = partPace): Promise<string> {
  const [first, ...others] = await eventParts(client);
  if (first === undefined) return 'Events are one table';
  await inTurn(client, pace, 'undivide', async () => {
    await client.query('lock table events in access exclusive mode');
    for (const { name } of others) {
      if (!(await isEmpty(client, name)))
        throw new EventPartsError(
          `There is no way back any more: ${name} has events. Only a dump that is restored into an undivided table is one`,
        );
      await client.query(`drop table ${name}`);
    }
    await client.query(undivided(first.name));
    await forgetCopy(client);
  });
  return 'Events are one table again';
}

async function isEmpty(client: ClientBase, part: string): Promise<boolean> {
  const { rows } = await client.query<{ empty: boolean }>(`select not exists (select from ${part} limit 1) as empty`);
  return rows[0]?.empty === true;
}

/** Ends the last part at an instant to come, where that has to be done by now, and makes one that begins there. */
export async function extend(client: ClientBase, kept: number, now: Date, pace: PartPace): Promise<void> {
  const parts = await eventParts(client);
  const last = parts.at(-1);
  if (last === undefined || parts.length >= mostParts) return;
  const begins = last.from === leastId ? null : instantOf(last.from);
  if (begins !== null && begins > dayAt(now, aheadDays)) return;
  if (begins !== null && (await isEmpty(client, last.name)))
    return cut(client, last, dayAt(begins, Math.ceil((kept + spareDays) / partsOfRetention)), pace);
  await cut(client, last, await checkedCut(client, last, now, pace), pace);
}

interface CutCheck {
  at: Date;
  isValid: boolean;
}

async function checkOf(client: ClientBase, part: EventPart): Promise<CutCheck | null> {
  const { rows } = await client.query<{ text: string; isValid: boolean }>(
    'select pg_get_constraintdef(oid) as text, convalidated as "isValid" from pg_constraint where conrelid = to_regclass($1) and conname = $2',
    [part.name, cutCheck],
  );
  const [row] = rows;
  const [, until] = /id < '([^']+)'/.exec(row?.text ?? '') ?? [];
  return row === undefined || until === undefined ? null : { at: instantOf(until), isValid: row.isValid };
}

/** Takes a cut back that nobody has finished and that comes too close, or that nobody wants any more: events would soon be refused. Returns whether it did. */
export async function giveUpCut(client: ClientBase, now: Date, pace: PartPace, isWanted: boolean): Promise<boolean> {
  const last = (await eventParts(client)).at(-1);
  const check = last === undefined ? null : await checkOf(client, last);
  if (last === undefined || check === null || (isWanted && check.at >= dayAt(now, leastAheadDays))) return false;
  await inTurn(client, pace, 'uncheck', async () => {
    await client.query(`alter table ${last.name} drop constraint if exists ${cutCheck}`);
  });
  return true;
}

/** Makes Postgres know that the rows of a part end before an instant ahead, which it reads the part for beside traffic. Returns the instant. */
async function checkedCut(client: ClientBase, part: EventPart, now: Date, pace: PartPace): Promise<Date> {
  let check = await checkOf(client, part);
  if (check === null) {
    check = { at: dayAt(now, cutAheadDays), isValid: false };
    const condition = within(part.from, firstIdAt(check.at));
    await inTurn(client, pace, 'check', async () => {
      await client.query(`alter table ${part.name} add constraint ${cutCheck} check (${condition}) not valid`);
    });
  }
  if (!check.isValid)
    await inTurn(client, pace, 'validate', async () => {
      await client.query(`alter table ${part.name} validate constraint ${cutCheck}`);
    });
  return check.at;
}

async function cut(client: ClientBase, { name, from }: EventPart, at: Date, pace: PartPace): Promise<void> {
  const until = firstIdAt(at);
  await inTurn(client, pace, 'cut', async () => {
    await client.query('lock table events in access exclusive mode');
    await client.query(`alter table events detach partition ${name}`);
    await client.query(`alter table events attach partition ${name} ${range(from, until)}`);
    await client.query(`alter table ${name} drop constraint if exists ${cutCheck}`);
    await client.query(
      `create table events_from_${dayName(until)} partition of events ${range(until, greatestId)} ${await settingsOf(client, name)}`,
    );
  });
  pace.say(`events from ${at.toISOString().slice(0, 10)} on have a part of their own`);
}

/** The settings of a part, which no other takes over by itself. */
export async function settingsOf(client: ClientBase, part: string): Promise<string> {
  const { rows } = await client.query<{ settings: string | null }>(
    `select 'with (' || array_to_string(reloptions, ', ') || ')' as settings from pg_class where oid = to_regclass($1)`,
    [part],
  );
  return rows[0]?.settings ?? '';
}

/** Gives up what was copied of the parts that are to be dropped. */
export async function forgetCopy(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ before: string | null }>(
    'select copied_before as before from event_counts_state for update',
  );
  const before = rows[0]?.before ?? null;
  if (before === null) return;
  await client.query(`drop table if exists ${copyName(before)}`);
  await client.query('update event_counts_state set copied_before = null; delete from events_touched');
}

/** The name of the part with what stays of all events before an ID. */
export const copyName = (before: string) => `events_until_${dayName(before)}`;
