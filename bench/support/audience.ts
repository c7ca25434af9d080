import type { Database } from '../../src/store/sql.ts';

/** How large an audience a benchmark makes. */
export interface AudienceSize {
  contacts: number;
  events: number;
}

/** The size that BENCH_CONTACTS asks for, a million unless it is set; five events for each contact. */
export function audienceSize(): AudienceSize {
  const contacts = Number(process.env.BENCH_CONTACTS ?? 1_000_000);
  return { contacts, events: contacts * 5 };
}

/**
 * Fills a project with contacts, their data and their events, all made of the row's number, so that every run has the
 * same audience:
 * plan is free (60 %), pro (10 %), team (20 %) or enterprise (10 %); score is 0 to 999; country is one of 40; a signup
 * date lies within three years; four of five contacts are subscribed. Events are spread over a year: page.view, login,
 * purchase (10 % of all), trial.started (1 %) and refund (0.02 %). Expects an empty database and the right to switch
 * triggers off; indexes are made after the rows.
 */
export async function fillAudience(db: Database, projectId: string, { contacts, events }: AudienceSize): Promise<void> {
  await db.transaction(async (sql) => {
    // Foreign keys hold by construction, and checking each of millions takes longer than all the rest.
    await sql.rows('set local session_replication_role = replica');
    await sql.rows(`set local maintenance_work_mem = '256MB'`);
    const indexes = await sql.rows<{ name: string; definition: string }>(
      `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
       from pg_index i where i.indrelid in ('contacts'::regclass, 'events'::regclass)
         and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
    );
    for (const { name } of indexes) await sql.rows(`drop index ${name}`);
    await sql.rows(contactRows, [projectId, contacts]);
    await sql.rows(eventRows, [projectId, events, contacts]);
    for (const { definition } of indexes) await sql.rows(definition);
  });
  for (const table of ['contacts', 'events']) await db.rows(`vacuum (analyze) ${table}`);
}

// Scatters numbers without a random generator, whose seed a parallel plan would not keep.
const hash = (number: string, seed: number) => `(hashint8extended(${number}, ${seed}) & 2147483647)`;

// An id of version 7 with the row's time; the row's number makes it unique.
const idAt = (instant: string, number: string) => `(
  lpad(to_hex((extract(epoch from ${instant}) * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(${number}), 15, '0'))::uuid`;

// Contacts came at a steady pace within three years, so that a number says when, and with that which id it is.
const cameAt = (number: string, count: string) =>
  `(date_trunc('day', now()) - ((${count} - ${number})::float8 / ${count}) * interval '1095 days')`;

const contactRows = `
  insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
  select ${idAt('at', 'n')}, $1, 'person.' || n || '@' || (array['example.com', 'example.org', 'kunde.example'])[1 + n % 3],
    h % 5 <> 0,
    jsonb_build_object(
      'plan', case when h % 10 < 6 then 'free' when h % 10 < 7 then 'pro' when h % 10 < 9 then 'team' else 'enterprise' end,
      'score', (h / 10) % 1000,
      'country', (array['DE','FR','NL','BE','AT','CH','IT','ES','PT','PL','CZ','SK','HU','RO','BG','GR','SE','NO','DK','FI',
        'IE','GB','US','CA','MX','BR','AR','CL','AU','NZ','JP','KR','IN','ID','TH','VN','ZA','NG','KE','EG'])[1 + (h / 10000) % 40],
      'firstName', 'Person ' || n,
      'signup', to_char(at, 'YYYY-MM-DD')),
    at, at
  from (
    select n, ${hash('n', 1)} as h, ${cameAt('n', '$2::bigint')} as at from generate_series(1, $2::bigint) as n) as rows`;

const eventRows = `
  insert into events (id, project_id, contact_id, name, data, created_at)
  select ${idAt('at', 'n')}, $1, ${idAt(cameAt('owner', '$3::bigint'), 'owner')},
    case when h % 5000 = 0 then 'refund' when h % 100 = 1 then 'trial.started' when h % 10 = 2 then 'purchase'
      when h % 2 = 0 then 'login' else 'page.view' end,
    jsonb_build_object('amount', h % 500), at
  from (
    select n, ${hash('n', 2)} as h, 1 + ${hash('n', 3)} % $3::bigint as owner,
      date_trunc('hour', now()) - (($2::bigint - n)::float8 / $2::bigint) * interval '365 days' as at
    from generate_series(1, $2::bigint) as n) as rows`;
