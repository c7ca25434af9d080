import type { Config } from '../../lib/config/config.ts';
import { firstIdAt, greatestId } from '../../lib/ids.ts';
import { dayMs } from '../../lib/time.ts';
import { mailByDay } from '../../mail/ledger/mail-count-queries.ts';
import { mailSources, newestMail } from '../../mail/ledger/queries.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import type { Deliverability } from './routes.ts';
import { measure } from './rules.ts';
import { reputationOf } from './service.ts';

/** Mailbox providers by the domains of addresses they serve themselves. Domains of companies that they host are not among them. */
const mailboxProviders: Readonly<Record<string, readonly string[]>> = {
  Google: ['gmail.com', 'googlemail.com'],
  Microsoft: [
    'outlook.com',
    'hotmail.com',
    'live.com',
    'msn.com',
    'hotmail.co.uk',
    'hotmail.fr',
    'outlook.de',
    'live.nl',
  ],
  Yahoo: ['yahoo.com', 'ymail.com', 'rocketmail.com', 'aol.com', 'yahoo.co.uk', 'yahoo.fr', 'yahoo.de', 'yahoo.co.jp'],
  Apple: ['icloud.com', 'me.com', 'mac.com'],
  'GMX and WEB.DE': ['gmx.de', 'gmx.net', 'gmx.at', 'gmx.ch', 'gmx.com', 'web.de', 'mail.com'],
  'Deutsche Telekom': ['t-online.de', 'magenta.de'],
  Proton: ['proton.me', 'protonmail.com', 'pm.me'],
  Orange: ['orange.fr', 'wanadoo.fr'],
  Free: ['free.fr'],
  Comcast: ['comcast.net', 'xfinity.com'],
  'Mail.ru': ['mail.ru', 'bk.ru', 'inbox.ru', 'list.ru'],
  Yandex: ['yandex.ru', 'yandex.com', 'ya.ru'],
  Tencent: ['qq.com', 'foxmail.com'],
  NetEase: ['163.com', '126.com', 'yeah.net'],
};

const longestDays = 90;
const usualDays = 30;

/** How a project's mail of some days was received, and where it stands against the limits; null when it is gone. */
export async function deliverabilityOf(
  db: Database,
  { AUTO_PROJECT_DISABLE }: Pick<Config, 'AUTO_PROJECT_DISABLE'>,
  projectId: string,
  asked: string | undefined,
  now: Date,
): Promise<Deliverability | null> {
  const today = Math.floor(now.getTime() / dayMs) * dayMs;
  const first = today - (daysOf(asked) - 1) * dayMs;
  const [reputation, counted, receivers] = await Promise.all([
    reputationOf(db, projectId, now),
    mailByDay(db, projectId, new Date(first), new Date(today + dayMs)),
    receiversOf(db, projectId, new Date(first)),
  ]);
  if (reputation === null) return null;
  const byDay = new Map(counted.map((row) => [row.day, row]));
  const days = Array.from({ length: (today - first) / dayMs + 1 }, (_, place) => {
    const date = new Date(first + place * dayMs).toISOString().slice(0, 10);
    const { rated = 0, ratedBounced = 0, ratedComplained = 0 } = byDay.get(date) ?? {};
    return { date, sent: rated, bounces: ratedBounced, complaints: ratedComplained };
  });
  return {
    days,
    limits: measure(reputation),
    pauses: AUTO_PROJECT_DISABLE,
    isPaused: reputation.disabled,
    ...receivers,
  };
}

function daysOf(asked: string | undefined): number {
  const days = Number(asked);
  return Number.isInteger(days) && days > 0 ? Math.min(days, longestDays) : usualDays;
}

/** How many emails are looked at to tell who received them. */
const mostLookedAt = 50_000;
const mostDomains = 50;

const sums = raw(`count(*)::float8 as sent, count(*) filter (where bounced)::float8 as bounces,
  count(*) filter (where complained)::float8 as complaints`);
const totals = raw(`sum(sent) as sent, sum(bounces) as bounces, sum(complaints) as complaints`);
const worst = raw('complaints desc, bounces desc, sent desc');

/**
 * Who received the latest mail of a project: one walk back along the index of its mail, which is in the order of time, over
 * `limit` rows at most. What counts is what reputation is judged by (`rated` in the ledger's counts).
 */
export async function receiversOf(
  db: Database,
  projectId: string,
  from: Date,
  limit = mostLookedAt,
): Promise<Pick<Deliverability, 'domains' | 'providers' | 'countedSince'>> {
  const known = Object.entries(mailboxProviders).flatMap(([provider, domains]) =>
    domains.map((domain) => ({ provider, domain })),
  );
  const row = await db.row<
    Pick<Deliverability, 'domains' | 'providers'> & { looked: number; oldest: string | null }
  >(sql`
    with looked as materialized (
      select lower(split_part(to_address, '@', 2)) as domain, bounced_at is not null as bounced,
        complained_at is not null as complained, created_at,
        counts.rated = 1 as rated
      from (${newestMail({ projectId, sources: mailSources, first: firstIdAt(from), before: greatestId, limit })}) mail
        cross join lateral mail_counts_of(source_type, status, simulated) counts
      order by id desc limit ${limit}),
    by_domain as materialized (select domain, ${sums} from looked where rated group by domain),
    known as (select * from jsonb_to_recordset(${JSON.stringify(known)}::jsonb) as k (provider text, domain text)),
    by_provider as (
      select coalesce(k.provider, 'Other') as provider, ${totals}
      from by_domain d left join known k on k.domain = d.domain group by 1)
    select (select count(*) from looked)::int as looked,
      (select ${raw(isoText('min(created_at)'))} from looked) as oldest,
      coalesce((select jsonb_agg(t) from (select * from by_domain order by ${worst}, domain limit ${mostDomains}) t), '[]')
        as domains,
      coalesce((select jsonb_agg(t) from (select * from by_provider order by ${worst}, provider) t), '[]') as providers`);
  if (row === null) throw new Error('Postgres did not answer');
  const { looked, oldest, ...receivers } = row;
  return { ...receivers, countedSince: looked < limit ? null : oldest };
}
