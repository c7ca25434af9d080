import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Sql, statement } from '../database/sql.ts';

/** The API's own figures, as Prometheus reads them. */
export interface HttpMetrics {
  readonly registry: Registry;
  /** All figures as text. Those of the queues are read from Postgres for each call, and left out when it does not answer. */
  text(): Promise<string>;
  observe(method: string, path: string, status: number, seconds: number): void;
}

const queueFigures = statement(
  'metrics.queues',
  `select 'email_queue' as queue, count(*)::int as depth,
       coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as age from email_queue
   union all
   select 'outbox', count(*)::int, coalesce(extract(epoch from now() - min(created_at)), 0)::float8
     from outbox where done_at is null
   union all
   select 'campaign_claims', count(*)::int, coalesce(extract(epoch from now() - min(claimed_at)), 0)::float8
     from campaign_claims where not settled
   union all
   select 'automation_arrivals', count(*)::int, coalesce(extract(epoch from now() - min(created_at)), 0)::float8
     from automation_arrivals`,
);
const sendFigures = statement(
  'metrics.sends',
  `select status, count(*)::int as emails from emails where id >= $1 group by status`,
);

const refusedStarts = statement(
  'metrics.refused_starts',
  'select coalesce(sum(refused), 0)::float8 as refused from automation_refusals',
);

// Prometheus gives a scrape ten seconds by default; a database that is slow must not cost it the other figures.
const databaseMayTakeMs = 2_000;

/** Makes the registry. `text` never fails because of Postgres: `posthorn_database_up` says whether it answered. */
export function createHttpMetrics(sql: Sql): HttpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'posthorn_http_requests_total',
    help: 'Requests answered, by route and status',
    labelNames: ['method', 'path', 'status'],
    registers: [registry],
  });
  const latencies = new Histogram({
    name: 'posthorn_http_request_seconds',
    help: 'Time from the request to the end of its answer',
    labelNames: ['method', 'path'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  const databaseUp = new Gauge({
    name: 'posthorn_database_up',
    help: '1 when Postgres answered this scrape within two seconds; without it the figures of emails and queues are missing',
    registers: [registry],
  });
  const emails = new Gauge({
    name: 'posthorn_emails_last_hour',
    help: 'Messages created in the last hour, by their status now',
    labelNames: ['status'],
    registers: [registry],
  });
  const depth = new Gauge({
    name: 'posthorn_queue_depth',
    help: 'Rows that wait',
    labelNames: ['queue'],
    registers: [registry],
  });
  const age = new Gauge({
    name: 'posthorn_queue_age_seconds',
    help: 'Age of the oldest waiting row',
    labelNames: ['queue'],
    registers: [registry],
  });
  const refused = new Gauge({
    name: 'posthorn_automation_starts_refused_total',
    help: 'Starts of workflows that the guard against loops refused',
    registers: [registry],
  });

  let reading: Promise<void> | null = null;
  const readDatabase = async () => {
    const [queues, sends, starts] = await Promise.all([
      sql.rows<{ queue: string; depth: number; age: number }>(queueFigures),
      sql.rows<{ status: string; emails: number }>(sendFigures, [firstIdOf(Date.now() - 3_600_000)]),
      sql.row<{ refused: number }>(refusedStarts),
    ]);
    emails.reset();
    for (const row of sends) emails.set({ status: row.status }, row.emails);
    for (const row of queues) {
      depth.set({ queue: row.queue }, row.depth);
      age.set({ queue: row.queue }, row.age);
    }
    refused.set(starts?.refused ?? 0);
  };
  const refresh = async () => {
    // One reading at a time: scrapes must not queue up behind a database that does not answer.
    reading ??= readDatabase().finally(() => {
      reading = null;
    });
    const answered = await inTime(reading, databaseMayTakeMs);
    databaseUp.set(answered ? 1 : 0);
    if (answered) return;
    // A figure from before would look like one of now. A gauge without labels is 0 after a reset, so that one goes on as it was.
    for (const gauge of [emails, depth, age]) gauge.reset();
  };
  return {
    registry,
    async text() {
      await refresh();
      return registry.metrics();
    },
    observe(method, path, status, seconds) {
      requests.inc({ method, path, status });
      latencies.observe({ method, path }, seconds);
    },
  };
}

async function inTime(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(late.resolve, milliseconds, false);
  const done = work.then(
    () => true,
    () => false,
  );
  return Promise.race([done, late.promise]).finally(() => clearTimeout(timer));
}

// Ids are UUIDs of version 7, so the primary key answers "since when" without an index of its own.
function firstIdOf(millis: number): string {
  const hex = millis.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}
