import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { firstIdAt } from '../lib/ids.ts';
import { measureProcess } from '../lib/telemetry.ts';
import { hourMs, within } from '../lib/time.ts';
import { type Database, raw, sql } from '../store/sql.ts';

/** The API's own figures, as Prometheus reads them. */
export interface HttpMetrics {
  readonly registry: Registry;
  /** All figures as text. Those of the queues are read from Postgres for each call, and left out when it does not answer. */
  text(): Promise<string>;
  observe(method: string, path: string, status: number, seconds: number): void;
}

// Prometheus gives a scrape ten seconds by default; a database that is slow must not cost it the other figures.
const databaseMayTakeMs = 2_000;

/** Makes the registry. `text` never fails because of Postgres: `fernpost_database_up` says whether it answered. */
export function createHttpMetrics(db: Database): HttpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  measureProcess(registry);
  const requests = new Counter({
    name: 'fernpost_http_requests_total',
    help: 'Requests answered, by route and status',
    labelNames: ['method', 'path', 'status'],
    registers: [registry],
  });
  const latencies = new Histogram({
    name: 'fernpost_http_request_seconds',
    help: 'Time from the request to the end of its answer',
    labelNames: ['method', 'path'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  const refreshDatabase = databaseFigures(db, registry);
  return {
    registry,
    async text() {
      await refreshDatabase();
      return registry.metrics();
    },
    observe(method, path, status, seconds) {
      requests.inc({ method, path, status });
      latencies.observe({ method, path }, seconds);
    },
  };
}

/** Registers what Postgres knows; the function that it answers reads it anew, for two seconds at most. */
function databaseFigures(db: Database, registry: Registry): () => Promise<void> {
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name: `fernpost_${name}`, help, labelNames, registers: [registry] });
  const up = gauge(
    'database_up',
    '1 when Postgres answered this scrape within two seconds; without it the figures of emails and queues are missing',
  );
  const emails = gauge('emails_last_hour', 'Messages created in the last hour, by their status now', ['status']);
  const depth = gauge('queue_depth', 'Rows that wait', ['queue']);
  const age = gauge('queue_age_seconds', 'Age of the oldest waiting row', ['queue']);
  const missing = gauge(
    'webhook_events_missing',
    'Events of the last day that webhook endpoints subscribe to and were never queued',
  );
  const size = gauge('database_size_bytes', 'Size of the database on the disk of Postgres');
  const endpoints = gauge('webhook_endpoints', 'Webhook endpoints, by their status', ['status']);
  const domains = gauge('domains', 'Sender domains: `lost` was verified before and is not now', ['state']);
  const refused = gauge('automation_starts_refused_total', 'Starts of workflows that the guard against loops refused');

  const read = async () => {
    const [queues, sends, lacks] = await Promise.all([queueFigures(db), sendFigures(db), lackFigures(db)]);
    emails.reset();
    for (const row of sends) emails.set({ status: row.status }, row.emails);
    for (const { queue, ...row } of queues) {
      depth.set({ queue }, row.depth);
      age.set({ queue }, row.age);
    }
    refused.set(lacks?.refused ?? 0);
    missing.set(lacks?.missing ?? 0);
    size.set(lacks?.bytes ?? 0);
    for (const status of ['ENABLED', 'PAUSED', 'DISABLED']) endpoints.set({ status }, lacks?.endpoints?.[status] ?? 0);
    for (const state of ['verified', 'lost', 'pending']) domains.set({ state }, lacks?.domains?.[state] ?? 0);
  };
  let reading: Promise<void> | null = null;
  return async () => {
    // One reading at a time: scrapes must not queue up behind a database that does not answer.
    reading ??= read().finally(() => {
      reading = null;
    });
    const done = reading.then(
      () => true,
      () => false,
    );
    const answered = await within(databaseMayTakeMs, done, false);
    up.set(answered ? 1 : 0);
    if (answered) return;
    // A figure from before would look like one of now. A gauge without labels is 0 after a reset, so that one goes on as it was.
    for (const stale of [emails, depth, age, endpoints, domains]) stale.reset();
  };
}

function queueFigures(db: Database): Promise<{ queue: string; depth: number; age: number }[]> {
  const figures = (since: string) =>
    raw(`count(*)::int as depth, coalesce(extract(epoch from now() - min(${since})), 0)::float8 as age`);
  return db.rows(sql`
    select 'email_queue' as queue, ${figures('created_at')} from email_queue where created_at <= now()
    union all
    select 'outbox', ${figures('created_at')} from outbox
      where done_at is null and (attempts > 0 or last_error is not null or next_attempt_at < now() + interval '2 minutes')
    union all
    select 'campaign_claims', ${figures('claimed_at')} from campaign_claims where not settled
    union all
    select 'restored_mail', ${figures('accepted_at')} from restored_mail where outcome = 'UNKNOWN'
    union all
    select 'automation_arrivals', ${figures('created_at')} from automation_arrivals
      where automation_id not in (select id from automations where paused_at is not null)
    union all
    select 'system_mails', ${figures('created_at')} from system_mails where status = 'PENDING'
    union all
    select 'webhook_deliveries', ${figures('due_at')} from webhook_deliveries
      where status = 'PENDING' and due_at <= now() and endpoint_id in (select id from webhook_endpoints where status = 'ENABLED')`);
}

function sendFigures(db: Database): Promise<{ status: string; emails: number }[]> {
  // Ids are UUIDs of version 7, so the primary key answers "since when" without an index of its own.
  const since = firstIdAt(new Date(Date.now() - hourMs));
  return db.rows(sql`select status, count(*)::int as emails from emails where id >= ${since} group by status`);
}

interface Lacks {
  refused: number;
  missing: number;
  bytes: number;
  endpoints: Record<string, number> | null;
  domains: Record<string, number> | null;
}

function lackFigures(db: Database): Promise<Lacks | null> {
  return db.row(sql`
    select (select coalesce(sum(refused), 0) from automation_refusals)::float8 as refused,
      (select coalesce(sum(missing), 0) from webhook_endpoints where missing > 0 and status = 'ENABLED')::float8 as missing,
      pg_database_size(current_database())::float8 as bytes,
      (select jsonb_object_agg(status, n) from (select status, count(*) as n from webhook_endpoints group by 1) e) as endpoints,
      (select jsonb_object_agg(state, n) from (
        select case when verified then 'verified' when verified_at is null then 'pending' else 'lost' end as state, count(*) as n
        from domains group by 1) d) as domains`);
}
