import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa, { type Context } from 'koa';
import { koaBody } from 'koa-body';
import { Pool } from 'pg';
import { Pool as HttpPool } from 'undici';
import { newId } from '../../src/lib/ids.ts';

// One half of the floor of `npm run bench -- send`, in a process of its own as ours are: what somebody would write by hand for a
// service that takes mail, keeps a row for each, and delivers it.

const [role = '', databaseUrl = '', sinkUrl = ''] = process.argv.slice(2);
const pool = new Pool({ connectionString: databaseUrl, max: 10 });
const projectId = '00000000-0000-7000-8000-000000000001';

/** Takes requests: Koa with koa-body, and one statement that upserts the contact and inserts the mail. */
async function accept(): Promise<object> {
  await pool.query(`create table if not exists floor_contacts (
      id uuid primary key, project_id uuid not null, email text not null, data jsonb not null, unique (project_id, email));
    create table if not exists floor_mail (
      id uuid primary key, project_id uuid not null, contact_id uuid not null references floor_contacts, to_address text not null,
      from_address text not null, subject text not null, body text not null, data jsonb not null, status text not null default 'PENDING',
      message_id text, sent_at timestamptz, created_at timestamptz not null default now()) with (fillfactor = 60);
    create index if not exists floor_mail_pending on floor_mail (id) where status = 'PENDING'`);
  const koa = new Koa();
  koa.use(koaBody());
  koa.use(async (ctx) => {
    const { body } = (ctx as Context & { request: { body: Record<string, unknown> } }).request;
    const { rows } = await pool.query({
      name: 'floor.send',
      text: `with contact as (
          insert into floor_contacts as c (id, project_id, email, data) values ($2, $1, $3, $4::jsonb)
          on conflict (project_id, email) do update set data = c.data || excluded.data returning id, data)
        insert into floor_mail (id, project_id, contact_id, to_address, from_address, subject, body, data)
        select $5, $1, id, $3, $6, $7, $8, data from contact returning id, contact_id`,
      values: [projectId, newId(), body.to, JSON.stringify(body.data), newId(), body.from, body.subject, body.body],
    });
    ctx.body = rows[0];
  });
  const server = createServer(koa.callback());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

interface Mail {
  id: string;
  to_address: string;
  from_address: string;
  subject: string;
  body: string;
  data: Record<string, string>;
}

const fill = (text: string, data: Record<string, string>) =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_, key) => data[key] ?? '');

/** Claims up to 500 mails, fills them in, hands them over as one batch and records what was answered, again and again. */
async function deliver(): Promise<never> {
  const http = new HttpPool(sinkUrl, { connections: 1, pipelining: 1 });
  for (;;) {
    const { rows } = await pool.query<Mail>({
      name: 'floor.claim',
      text: `update floor_mail set status = 'SENDING' where id in (
          select id from floor_mail where status = 'PENDING' order by id limit 500 for update skip locked)
        returning id, to_address, from_address, subject, body, data`,
    });
    if (rows.length === 0) {
      await sleep(20);
      continue;
    }
    const answer = await http.request({
      method: 'POST',
      path: '/email/batch',
      headers: { 'content-type': 'application/json', 'x-postmark-server-token': 'bench' },
      body: JSON.stringify(
        rows.map(({ id, to_address, from_address, subject, body, data }) => ({
          From: from_address,
          To: to_address,
          Subject: fill(subject, data),
          HtmlBody: fill(body, data),
          Metadata: { eid: id },
        })),
      ),
    });
    const verdicts = (await answer.body.json()) as { MessageID: string }[];
    await pool.query({
      name: 'floor.record',
      text: `update floor_mail m set status = 'SENT', message_id = u.m, sent_at = now()
        from unnest($1::uuid[], $2::text[]) as u(id, m) where m.id = u.id`,
      values: [rows.map(({ id }) => id), verdicts.map((verdict) => verdict.MessageID)],
    });
  }
}

process.on('disconnect', () => process.exit(0));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuSeconds: (user + system) / 1e6, peakRssMb: process.memoryUsage.rss() / 1e6 });
});
if (role === 'accept') process.send?.(await accept());
else {
  process.send?.({});
  await deliver();
}
