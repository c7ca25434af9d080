import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Sql, statement } from '../db/sql.ts';

/** The API's own figures, in Prometheus's text form at `GET /metrics`. */
export interface HttpMetrics {
  registry: Registry;
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

/** Makes the registry; queue figures are read from Postgres when somebody asks for them. */
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
  new Gauge({
    name: 'posthorn_emails_last_hour',
    help: 'Messages created in the last hour, by their status now',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const row of await sql.rows<{ status: string; emails: number }>(sendFigures, [
        firstIdOf(Date.now() - 3_600_000),
      ]))
        this.set({ status: row.status }, row.emails);
    },
  });
  const age = new Gauge({
    name: 'posthorn_queue_age_seconds',
    help: 'Age of the oldest waiting row',
    labelNames: ['queue'],
    registers: [registry],
  });
  new Gauge({
    name: 'posthorn_queue_depth',
    help: 'Rows that wait',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      for (const row of await sql.rows<{ queue: string; depth: number; age: number }>(queueFigures)) {
        this.set({ queue: row.queue }, row.depth);
        age.set({ queue: row.queue }, row.age);
      }
    },
  });
  new Gauge({
    name: 'posthorn_automation_starts_refused_total',
    help: 'Starts of workflows that the guard against loops refused',
    registers: [registry],
    async collect() {
      this.set((await sql.row<{ refused: number }>(refusedStarts))?.refused ?? 0);
    },
  });
  return {
    registry,
    observe(method, path, status, seconds) {
      requests.inc({ method, path, status });
      latencies.observe({ method, path }, seconds);
    },
  };
}

// Ids are UUIDs of version 7, so the primary key answers "since when" without an index of its own.
function firstIdOf(millis: number): string {
  const hex = millis.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}
