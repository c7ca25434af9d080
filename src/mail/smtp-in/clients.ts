import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import * as v from 'valibot';
import { isUuid } from '../../lib/ids.ts';
import { field, NullableInstant, nameSchemas } from '../../lib/validation/fields.ts';
import type { KeyOwner } from '../../projects/directory.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';

/** A program that sends by SMTP, and what it did last. */
export const SmtpClientBody = v.object({
  ip: field('IP address it connects from.', v.string()),
  credential: field(
    'What it signs in with. `secret`: the secret key. `key`: a key with scopes. `unknown`: something that is not a key of the project.',
    v.picklist(['secret', 'key', 'unknown']),
  ),
  key: field(
    'Name of the key with scopes; null for other credentials, and when the key was deleted.',
    v.nullable(v.string()),
  ),
  lastAt: field('When it last connected, accurate to half a minute.', v.pipe(v.string(), v.isoTimestamp())),
  acceptedAt: field(
    'When its last message was accepted, accurate to half a minute; null if none was.',
    NullableInstant,
  ),
  refusedAt: field('When it was last refused; null if it was not.', NullableInstant),
  refusal: field(
    'The last refusal, code first, without email addresses; null if there was none.',
    v.nullable(v.string()),
  ),
});
export type SmtpClientBody = v.InferOutput<typeof SmtpClientBody>;

nameSchemas({ SmtpClient: SmtpClientBody });

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

/** Whose client it is; see `SmtpClient`. */
interface ClientOwner {
  projectId: string;
  credential: string;
}

/** Something that a client did: signed in, handed over a message, or got a reply that refuses. */
type ClientNews = { kind: 'signed-in' | 'accepted' } | { kind: 'refused'; reply: string };

// A program that sends all the time is written down once in a while.
const everyMs = 30_000;
const longestRefusal = 300;

/** The owner that a key has. */
export function clientOfKey({ project, scoped }: Pick<KeyOwner, 'project' | 'scoped'>): ClientOwner {
  return { projectId: project.id, credential: scoped?.id ?? 'secret' };
}

/** The owner of a sign-in that failed, where its user name is a project; null where there is nobody to notify. */
export function clientOfFailure(username: string): ClientOwner | null {
  const projectId = username.toLowerCase();
  return isUuid(projectId) ? { projectId, credential: 'unknown' } : null;
}

/** Notes the clients of projects, so that whoever sets one up sees what it did last. Nobody waits for it. */
export class ClientLog {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #noted = new LRUCache<string, string>({ max: 10_000, ttl: everyMs });
  readonly #underWay = new Set<Promise<void>>();

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Notes what a client did, unless the same was noted within half a minute. */
  note({ projectId, credential }: ClientOwner, ip: string, news: ClientNews): void {
    const refusal = news.kind === 'refused' ? withoutAddresses(news.reply) : null;
    const name = `${projectId} ${credential} ${ip} ${news.kind}`;
    const what = refusal ?? '';
    if (this.#noted.get(name) === what) return;
    this.#noted.set(name, what);
    const written = noteClient(this.#db, { projectId, credential, ip, isAccepted: news.kind === 'accepted', refusal })
      .catch((error: unknown) => this.#log.debug({ err: error }, 'a client of SMTP could not be noted'))
      .finally(() => this.#underWay.delete(written));
    this.#underWay.add(written);
  }

  /** Resolves when everything is written. */
  async drain(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}

// Recipients are somebody's data, which an erasure would have to find.
function withoutAddresses(reply: string): string {
  return reply.replaceAll(/[^\s"<>()]+@[^\s"<>(),:;]+/g, '…@…').slice(0, longestRefusal);
}
