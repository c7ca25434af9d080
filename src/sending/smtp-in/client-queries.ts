import { isoText } from '../../core/database/columns.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import type { SmtpClientBody } from './schema.ts';

/** Most clients that are kept of a project; strangers that guess keys go first. */
const mostClients = 50;
const days = 30;

/** Writes down what a client did last. Nothing for a project that does not exist. */
export async function noteClient(
  db: Database,
  client: { projectId: string; credential: string; ip: string; isAccepted: boolean; refusal: string | null },
): Promise<void> {
  const { projectId, credential, ip, isAccepted, refusal } = client;
  const row = await db.row<{ isNew: boolean }>(sql`
    insert into smtp_clients as c (project_id, credential, ip, accepted_at, refused_at, refusal)
    select id, ${credential}, ${ip}, case when ${isAccepted}::boolean then now() end,
      case when ${refusal}::text is not null then now() end, ${refusal}::text
    from projects where id = ${projectId}
    on conflict (project_id, credential, ip) do update set last_at = now(),
      accepted_at = coalesce(excluded.accepted_at, c.accepted_at), refused_at = coalesce(excluded.refused_at, c.refused_at),
      refusal = coalesce(excluded.refusal, c.refusal)
    returning xmax = 0 as "isNew"`);
  if (row?.isNew !== true) return;
  await db.count(sql`
    delete from smtp_clients c using (
      select credential, ip, last_at,
        row_number() over (order by credential = 'unknown', last_at desc) as place
      from smtp_clients where project_id = ${projectId}) o
    where c.project_id = ${projectId} and c.credential = o.credential and c.ip = o.ip
      and (o.place > ${mostClients} or o.last_at < now() - make_interval(days => ${days}))`);
}

const iso = (column: string) => raw(isoText(column));

/** The clients of a project, the latest first. */
export function listClients(db: Database, projectId: string): Promise<SmtpClientBody[]> {
  return db.rows<SmtpClientBody>(sql`
    select c.ip, case c.credential when 'secret' then 'secret' when 'unknown' then 'unknown' else 'key' end as credential,
      k.name as key, ${iso('c.last_at')} as "lastAt", ${iso('c.accepted_at')} as "acceptedAt",
      ${iso('c.refused_at')} as "refusedAt", c.refusal
    from smtp_clients c left join api_keys k on k.project_id = c.project_id and k.id::text = c.credential
    where c.project_id = ${projectId} and c.last_at > now() - make_interval(days => ${days})
    order by c.last_at desc limit ${mostClients}`);
}
