import { verify, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Context } from 'koa';
import { koaBody } from 'koa-body';
import { Pool } from 'pg';

// The floor of `npm run bench -- reports`: what somebody would write by hand for the webhooks of Postmark or of Amazon SNS, by Koa and pg. It knows the
// credentials, or checks topic and signature, and a statement for each report keeps what ours keeps: its receipt, the mail, the counts of the campaign and
// of the hour, the end of a subscription, and events.

const [databaseUrl = '', provider = '', trusted = '', certificate = ''] = process.argv.slice(2);
const pool = new Pool({ connectionString: databaseUrl, max: 10 });
await pool.query(`create table if not exists floor_mails (
    id uuid primary key, project_id uuid not null, contact_id uuid not null, campaign_id uuid, subject text not null,
    status text not null default 'SENT', delivered_at timestamptz, opened_at timestamptz, clicked_at timestamptz, bounced_at timestamptz,
    opens int not null default 0, clicks int not null default 0);
  create table if not exists floor_campaigns (id uuid primary key, delivered int not null default 0, opened int not null default 0,
    clicked int not null default 0, bounced int not null default 0);
  create table if not exists floor_contacts (id uuid primary key, subscribed boolean not null default true);
  create table if not exists floor_hours (project_id uuid not null, hour timestamptz not null, kind text not null, mails int not null);
  create table if not exists floor_receipts (key text primary key);
  create table if not exists floor_events (id uuid primary key default uuidv7(), project_id uuid not null, contact_id uuid not null,
    email_id uuid not null, name text not null, data jsonb not null, created_at timestamptz not null default now());
  create index if not exists floor_events_feed on floor_events (project_id, id);
  create index if not exists floor_events_contact on floor_events (contact_id, id);
  create index if not exists floor_events_name on floor_events (project_id, name, created_at)`);

const kinds: Record<string, [instant: string, status: string]> = {
  Delivery: ['delivered', 'DELIVERED'],
  Open: ['opened', 'OPENED'],
  Click: ['clicked', 'CLICKED'],
  Bounce: ['bounced', 'BOUNCED'],
};
const instants: Record<string, string> = { Delivery: 'DeliveredAt', Bounce: 'BouncedAt' };

/** What the statement needs of a report. */
interface Report {
  key: string;
  kind: string;
  emailId: string;
  at: string;
  link: string | undefined;
}
type Call = Context & { request: { body: unknown } };

function fromPostmark(ctx: Call): Report {
  if (ctx.get('authorization') !== trusted) return ctx.throw(401);
  const body = ctx.request.body as Record<string, string> & { Metadata: { eid: string } };
  const kind = body.RecordType ?? '';
  const at = body[instants[kind] ?? 'ReceivedAt'] ?? '';
  return { key: `${kind}:${body.MessageID}:${at}`, kind, emailId: body.Metadata.eid, at, link: body.OriginalLink };
}

const publicKey = certificate === '' ? null : new X509Certificate(certificate).publicKey;

function fromSns(ctx: Call): Report {
  const post = JSON.parse(ctx.request.body as string) as Record<string, string>;
  const names = ['Message', 'MessageId', 'Timestamp', 'TopicArn', 'Type'];
  const signed = Buffer.from(names.map((name) => `${name}\n${post[name]}\n`).join(''));
  const signature = Buffer.from(post.Signature ?? '', 'base64');
  if (post.TopicArn !== trusted || publicKey === null || !verify('RSA-SHA256', signed, publicKey, signature))
    return ctx.throw(403);
  const event = JSON.parse(post.Message ?? '') as Record<string, { timestamp: string; link?: string }> & {
    eventType: string;
    mail: { tags: Record<string, string[]> };
  };
  const said = event[event.eventType.toLowerCase()];
  return {
    key: post.MessageId ?? '',
    kind: event.eventType,
    emailId: event.mail.tags.eid?.[0] ?? '',
    at: said?.timestamp ?? '',
    link: said?.link,
  };
}

const read = provider === 'ses' ? fromSns : fromPostmark;
const rank = `array_position(array['SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED'], e.status)`;

const koa = new Koa();
koa.use(koaBody());
koa.use(async (ctx) => {
  const { key, kind, emailId, at, link } = read(ctx as Call);
  const [instant, status] = kinds[kind] ?? ['delivered', 'DELIVERED'];
  await pool.query({
    name: `floor.${instant}`,
    text: `with receipt as (insert into floor_receipts (key) values ($1) on conflict do nothing returning 1),
      moved as (update floor_mails e set ${instant}_at = least(e.${instant}_at, $3::timestamptz),
          opens = e.opens + ${instant === 'opened' ? 1 : 0}, clicks = e.clicks + ${instant === 'clicked' ? 1 : 0},
          status = case when array_position(array['SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED'], $4::text) > ${rank} then $4::text else e.status end
        where e.id = $2 and exists (select from receipt) returning e.*),
      counted as (update floor_campaigns c set ${instant} = c.${instant} + 1 from moved m
        where c.id = m.campaign_id and m.${instant}_at = $3::timestamptz),
      hours as (insert into floor_hours (project_id, hour, kind, mails)
        select project_id, date_bin('1 hour', $3::timestamptz, 'epoch'), '${instant}', 1 from moved m where m.${instant}_at = $3::timestamptz),
      suppressed as (update floor_contacts c set subscribed = false from moved m
        where ${instant === 'bounced'} and c.id = m.contact_id and c.subscribed returning c.id, m.project_id, m.id as email_id),
      left_events as (insert into floor_events (project_id, contact_id, email_id, name, data)
        select project_id, id, email_id, 'contact.unsubscribed', '{"reason":"bounce"}' from suppressed)
      insert into floor_events (project_id, contact_id, email_id, name, data)
      select project_id, contact_id, id, $5::text, jsonb_build_object('subject', subject, 'at', $3::text, 'link', $6::text) from moved`,
    values: [key, emailId, at, status, `email.${kind.toLowerCase()}`, link ?? null],
  });
  ctx.body = { success: true };
});
const server = createServer(koa.callback());
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
process.on('disconnect', () => process.exit(0));
