import pLimit from 'p-limit';
import type { buildConnector } from 'undici';
import type { TellMembers } from '../../accounts/system-mail/service.ts';
import { contactsAndTrash } from '../../contacts/trash-queries.ts';
import { callOut, NoAnswer } from '../../http/guarded-requests/call.ts';
import { AddressRefused } from '../../http/guarded-requests/guard.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { newId } from '../../lib/ids.ts';
import { measureWebhookCall } from '../../lib/telemetry.ts';
import { type Clock, pause } from '../../lib/time.ts';
import type { HorizonTimes } from '../../segments/changes.ts';
import { databaseNow } from '../../store/changes.ts';
import { isoInstant } from '../../store/columns.ts';
import type { OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, sql } from '../../store/sql.ts';
import { secretsOf, WebhookDelivery, WebhookEndpoint } from './entity.ts';
import { feedEndpoint, replayPage } from './feed.ts';
import { deliveredColumns, payloadOf, signedHeaders, webhookIdOf } from './payload.ts';
import { afterCall, type CallConsequence } from './retries.ts';
import type { AttemptBody } from './schema.ts';

export interface WebhookDeps {
  db: Database;
  /** Opens connections; see `guardedConnector`. */
  connect: buildConnector.connector;
  encryptionKeys: readonly string[];
  clock: Clock;
  tell: TellMembers;
  dispatchSoon(...tickets: OutboxTicket[]): void;
  /** How long an empty queue is watched before the work ends, in milliseconds. */
  idleMs?: number;
  /** How long transactions of others hold back the feed. */
  horizon?: HorizonTimes;
}

/** How a share of the work of an endpoint ended. */
export interface WebhookReport {
  delivered: number;
  failed: number;
  /** Until there is something to do, in milliseconds; 0 is at once, null is when something happens. */
  waitMs: number | null;
  /** False when the endpoint is paused, disabled or deleted. */
  isOn: boolean;
}

/** Limits of a call: 15 seconds, no redirects, and what of the answer is kept. */
const limits = { hopMs: 15_000, redirects: 0, bodyBytes: 4_096 };
const inFlight = 8;
const batchSize = 32;
const shareMs = 30_000;
// An ended execution costs more to start than an open one costs to look at its queue again.
const usualIdleMs = 4_000;
const lookEveryMs = 400;

interface Endpoint {
  id: string;
  projectId: string;
  url: string;
  payload: 'full' | 'thin';
  ordered: boolean;
  secrets: string[];
  isSlow: boolean;
  restMs: number;
}

interface Due {
  id: string;
  sequence: string;
  eventId: string;
  attempts: number;
  event: { name: string; at: string; data: JsonObjectValue | null; emailId: string | null } | null;
  contact: { id: string; email: string } | null;
}

type Attempt = Omit<AttemptBody, 'at'> & { at: Date; retryAfter: string | null };

/**
 * Queues and delivers the events of one endpoint for up to half a minute. Only one execution does so for an endpoint; a crash repeats
 * what was not recorded, under the same webhook ids.
 */
export async function deliverWebhooks(
  deps: WebhookDeps,
  endpointId: string,
  stop: AbortSignal,
): Promise<WebhookReport> {
  const report: WebhookReport = { delivered: 0, failed: 0, waitMs: 0, isOn: true };
  const endsAt = Date.now() + shareMs;
  let idleSince = Date.now();
  while (!stop.aborted && Date.now() < endsAt) {
    const endpoint = await findEndpoint(deps, endpointId);
    if (endpoint === null) return { ...report, waitMs: null, isOn: false };
    const hasMore = (await feedEndpoint(deps.db, endpointId, deps.horizon)) || (await replayPage(deps.db, endpointId));
    if (endpoint.restMs > 0) return { ...report, waitMs: endpoint.restMs };
    const due = await dueDeliveries(deps.db, endpoint);
    if (due.length > 0) {
      const isOn = await deliverBatch(deps, endpoint, due, report, stop);
      if (!isOn) return { ...report, waitMs: null, isOn };
      idleSince = Date.now();
    } else if (!hasMore) {
      if (Date.now() - idleSince > (deps.idleMs ?? usualIdleMs))
        return { ...report, waitMs: await nextDueMs(deps.db, endpoint) };
      await pause(lookEveryMs, stop);
    }
  }
  return report;
}

async function findEndpoint({ db, encryptionKeys }: WebhookDeps, endpointId: string): Promise<Endpoint | null> {
  const row = await db.session().em.findOne(WebhookEndpoint, { id: endpointId, status: 'ENABLED' });
  if (row === null) return null;
  const { id, projectId, url, payload, ordered, restingUntil } = row;
  const restMs = Math.max(0, (restingUntil?.getTime() ?? 0) - Date.now());
  const secrets = secretsOf(row, encryptionKeys);
  return { id, projectId, url, payload, ordered, isSlow: restingUntil != null, restMs, secrets };
}

// In order, the oldest one that waits holds back all others; otherwise whichever is due.
async function dueDeliveries(db: Database, { id, ordered, isSlow }: Endpoint): Promise<Due[]> {
  const next = ordered
    ? sql`select * from (
        select * from webhook_deliveries where endpoint_id = ${id} and status = 'PENDING' order by sequence limit 1) first
      where due_at <= now()`
    : sql`select * from webhook_deliveries
      where endpoint_id = ${id} and status = 'PENDING' and due_at <= now()
      order by due_at, sequence limit ${isSlow ? 1 : batchSize}`;
  return db.rows<Due>(sql`
    select d.id, d.sequence::text as sequence, d.event_id as "eventId", d.attempts, ${deliveredColumns}
    from (${next}) d left join events e on e.id = d.event_id
      left join ${contactsAndTrash} c on c.id = coalesce(e.contact_id, d.event_id)
    order by d.sequence`);
}

async function nextDueMs(db: Database, { id }: Endpoint): Promise<number | null> {
  const pending = { endpointId: id, status: 'PENDING' } as const;
  const next = await db
    .session()
    .em.findOne(WebhookDelivery, pending, { orderBy: { dueAt: 'asc' }, fields: ['dueAt'] });
  return next && Math.max(1, next.dueAt.getTime() - (await databaseNow(db)).getTime());
}

/** Calls the endpoint with each, writes down how that went, and answers whether the endpoint is still on. */
async function deliverBatch(
  deps: WebhookDeps,
  endpoint: Endpoint,
  due: readonly Due[],
  report: WebhookReport,
  stop: AbortSignal,
): Promise<boolean> {
  const limit = pLimit(endpoint.isSlow || endpoint.ordered ? 1 : inFlight);
  const results = await Promise.all(
    due.map((delivery) => limit(async () => ({ delivery, attempt: await attemptOf(deps, endpoint, delivery, stop) }))),
  );
  const steps = results.map(({ delivery, attempt }) => ({
    delivery,
    attempt,
    // An event that was deleted since cannot be delivered.
    next:
      delivery.event === null
        ? ({ status: 'FAILED', dueInMs: 0, restMs: null, isGone: false } satisfies CallConsequence)
        : afterCall(attempt, delivery.attempts + 1, deps.clock(), Math.random()),
  }));
  for (const { next } of steps) {
    if (next.status === 'DELIVERED') report.delivered += 1;
    if (next.status === 'FAILED') report.failed += 1;
  }
  return record(deps, endpoint, steps);
}

async function attemptOf(deps: WebhookDeps, endpoint: Endpoint, due: Due, stop: AbortSignal): Promise<Attempt> {
  if (due.event === null)
    return {
      at: deps.clock(),
      statusCode: null,
      ms: 0,
      answer: null,
      error: 'The event was deleted',
      retryAfter: null,
    };
  const { name, at, data, emailId } = due.event;
  const body = payloadOf(
    { eventId: due.eventId, name, at: isoInstant(at), data, contact: due.contact, emailId },
    endpoint.payload,
  );
  return callEndpoint(deps, endpoint, { id: webhookIdOf(due.eventId), sequence: due.sequence, body }, stop);
}

/** Makes one signed call. Never rejects but for `stop`: what went wrong is part of the result. */
export async function callEndpoint(
  { connect, clock }: Pick<WebhookDeps, 'connect' | 'clock'>,
  { url, secrets }: Pick<Endpoint, 'url' | 'secrets'>,
  { id, sequence, body }: { id: string; sequence: string; body: string },
  stop: AbortSignal,
): Promise<Attempt> {
  const at = clock();
  const began = performance.now();
  const ms = (statusCode: number | null) => {
    const tookMs = performance.now() - began;
    measureWebhookCall(statusCode === null ? 'none' : `${Math.floor(statusCode / 100)}xx`, tookMs / 1000);
    return Math.round(tookMs);
  };
  try {
    const answer = await callOut(
      connect,
      {
        url: new URL(url),
        method: 'POST',
        headers: {},
        ownHeaders: {
          'content-type': 'application/json',
          'user-agent': 'fernpost',
          'webhook-sequence': sequence,
          ...signedHeaders(secrets, { id, at, body }),
        },
        body,
      },
      stop,
      limits,
    );
    const text = new TextDecoder().decode(answer.body).replaceAll('\0', '\ufffd');
    const { statusCode, retryAfter } = answer;
    return { at, statusCode, ms: ms(statusCode), answer: text, error: null, retryAfter };
  } catch (error) {
    if (!(error instanceof NoAnswer) && !(error instanceof AddressRefused)) throw error;
    return { at, statusCode: null, ms: ms(null), answer: null, error: error.message, retryAfter: null };
  }
}

async function record(
  { db, tell, dispatchSoon }: WebhookDeps,
  endpoint: Endpoint,
  steps: readonly { delivery: Due; attempt: Attempt; next: CallConsequence }[],
): Promise<boolean> {
  const rows = steps.map(({ delivery, attempt, next }) => ({
    id: delivery.id,
    attempt_id: newId(),
    at: attempt.at.toISOString(),
    status_code: attempt.statusCode,
    ms: attempt.ms,
    answer: attempt.answer,
    error: attempt.error,
    status: next.status,
    due_ms: next.dueInMs,
  }));
  const hasTaken = steps.some(({ next }) => next.status === 'DELIVERED');
  const wasCalled = steps.some(({ delivery }) => delivery.event !== null);
  const rests = steps.flatMap(({ next }) => next.restMs ?? []);
  const restMs = rests.length === 0 ? null : Math.max(...rests);
  const isGone = steps.some(({ next }) => next.isGone);
  return db
    .transaction(async (tx) => {
      const after = await tx.row<{ status: string; reason: string | null; host: string }>(sql`
      with results as (
        select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (id uuid, attempt_id uuid, at timestamptz,
          status_code int, ms int, answer text, error text, status text, due_ms float8)),
      logged as (
        insert into webhook_attempts (id, delivery_id, at, status_code, ms, answer, error)
        select attempt_id, d.id, at, status_code, ms, answer, error from results join webhook_deliveries d using (id)),
      moved as (
        update webhook_deliveries d set status = r.status, attempts = d.attempts + 1,
          due_at = now() + r.due_ms * interval '1 millisecond'
        from results r where d.id = r.id and d.status = 'PENDING'),
      judged as (
        select id, case when ${hasTaken} then null when ${wasCalled} then coalesce(failing_since, now()) else failing_since end
          as failing
        from webhook_endpoints
        where id = ${endpoint.id})
      update webhook_endpoints e set failing_since = failing,
        resting_until = case when ${restMs}::float8 is not null then now() + ${restMs}::float8 * interval '1 millisecond'
          when ${hasTaken} then null else resting_until end,
        status = case when ${isGone} or failing < now() - interval '5 days' then 'DISABLED' else status end,
        disabled_reason = case when ${isGone} then 'The endpoint answered 410 Gone'
          when failing < now() - interval '5 days' then 'Every delivery failed for five days' end,
        updated_at = now()
      from judged
      where e.id = judged.id and e.status = 'ENABLED'
      returning e.status, e.disabled_reason as reason, e.url as host`);
      if (after?.status !== 'DISABLED') return { isOn: after !== null, tickets: [] };
      const tickets = await tell(tx, {
        projectId: endpoint.projectId,
        kind: 'webhook-disabled',
        path: '/settings?tab=webhooks',
        values: { host: new URL(after.host).host, reason: after.reason ?? '' },
      });
      return { isOn: false, tickets };
    })
    .then(({ isOn, tickets }) => {
      dispatchSoon(...tickets);
      return isOn;
    });
}
