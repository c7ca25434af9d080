import { Pool } from 'pg';
import { Pool as HttpPool } from 'undici';
import { campaignHtml, campaignSubject } from './campaign-content.ts';

/** Options of the hand-written loop. */
export interface FloorOptions {
  databaseUrl: string;
  sinkUrl: string;
  projectId: string;
  campaignId: string;
  /** Batches under way at once. */
  inFlight: number;
}

/** How long it took and how many messages it sent. */
export interface FloorResult {
  messages: number;
  milliseconds: number;
}

// Kept between runs, as a service would keep them.
let db: Pool | undefined;
let http: HttpPool | undefined;

/**
 * The floor: the fastest loop that one would write by hand and that still keeps a row for each message. Reads contacts,
 * renders by string replacement, hands over batches of 500 with several under way, one insert before each batch and one
 * update after it. No claims, events, footer, text part, headers, look-ups or recovery.
 */
export async function runFloor(options: FloorOptions): Promise<FloorResult> {
  const { databaseUrl, sinkUrl, inFlight } = options;
  db ??= new Pool({ connectionString: databaseUrl, max: inFlight });
  http ??= new HttpPool(sinkUrl, { connections: inFlight, pipelining: 1 });
  return loop(db, http, options);
}

async function loop(db: Pool, http: HttpPool, { projectId, campaignId, inFlight }: FloorOptions): Promise<FloorResult> {
  await db.query(`create table if not exists floor_ledger (
    id uuid primary key default uuidv7(), campaign_id uuid not null, contact_id uuid not null references contacts on delete cascade,
    to_address text not null, status text not null default 'PENDING', subject text, message_id text, sent_at timestamptz(3),
    created_at timestamptz(3) not null default now(), unique (campaign_id, contact_id)) with (fillfactor = 45)`);
  const started = performance.now();
  const subject = template(campaignSubject);
  const html = template(campaignHtml);
  let after = '00000000-0000-0000-0000-000000000000';
  let reading = Promise.resolve<Contact[]>([]);
  let messages = 0;

  await Promise.all(Array.from({ length: inFlight }, lane));
  const milliseconds = performance.now() - started;
  return { messages, milliseconds };

  async function lane(): Promise<void> {
    for (;;) {
      const contacts = await nextBatch();
      if (contacts.length === 0) return;
      const { rows } = await db.query<{ id: string }>({
        name: 'floor_insert',
        text: `insert into floor_ledger (campaign_id, contact_id, to_address)
               select $1, c, a from unnest($2::uuid[], $3::text[]) as u(c, a) on conflict do nothing returning id`,
        values: [campaignId, `{${contacts.map(({ id }) => id).join(',')}}`, contacts.map(({ email }) => email)],
      });
      const subjects = contacts.map(({ data }) => subject(data));
      const body = contacts.map(({ email, data }, place) => ({
        From: 'Birdwatch <hello@fernpost.test>',
        To: email,
        Subject: subjects[place],
        HtmlBody: html(data),
        MessageStream: 'broadcast',
        Metadata: { eid: rows[place]?.id },
      }));
      const answer = await http.request({
        method: 'POST',
        path: '/email/batch',
        headers: { 'content-type': 'application/json', 'x-postmark-server-token': 'bench' },
        body: JSON.stringify(body),
      });
      const verdicts = (await answer.body.json()) as { MessageID: string }[];
      await db.query({
        name: 'floor_update',
        text: `update floor_ledger l set status = 'SENT', message_id = u.m, subject = u.s, sent_at = now()
               from unnest($1::uuid[], $2::text[], $3::text[]) as u(id, m, s) where l.id = u.id`,
        values: [`{${rows.map(({ id }) => id).join(',')}}`, verdicts.map((verdict) => verdict.MessageID), subjects],
      });
      messages += contacts.length;
    }
  }

  // One page is read after the other; what is done with them runs side by side.
  function nextBatch(): Promise<Contact[]> {
    reading = reading.then(async () => {
      const { rows } = await db.query<Contact>({
        name: 'floor_read',
        text: 'select id, email, data from contacts where project_id = $1 and id > $2 and subscribed order by project_id, id limit 500',
        values: [projectId, after],
      });
      after = rows.at(-1)?.id ?? after;
      return rows;
    });
    return reading;
  }
}

interface Contact {
  id: string;
  email: string;
  data: Record<string, string>;
}

function template(source: string): (data: Record<string, string>) => string {
  const parts = source.split(/\{\{(\w+)\}\}/);
  return (data) => parts.map((part, place) => (place % 2 === 0 ? part : (data[part] ?? ''))).join('');
}
