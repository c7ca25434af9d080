import { isDeepStrictEqual } from 'node:util';
import { LockMode } from '@mikro-orm/core';
import type { buildConnector } from 'undici';
import { isRefusedPort } from '../../http/guarded-requests/guard.ts';
import { conflict, invalidField, notFound } from '../../lib/errors.ts';
import { leastId, newId } from '../../lib/ids.ts';
import { seal } from '../../lib/seal.ts';
import { type Clock, parseDate } from '../../lib/time.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { lockProject } from '../../projects/queries.ts';
import { type Database, sql } from '../../store/sql.ts';
import { callEndpoint } from './deliver.ts';
import { secretsOf, WebhookEndpoint, WebhookReplay } from './entity.ts';
import { newSecret, payloadOf, refuseUnknownEvents, webhookIdOf } from './payload.ts';
import { afterCall } from './retries.ts';
import type { CreateEndpoint, EndpointBody, PatchEndpoint, ReplayBody, ReplayEvents } from './schema.ts';

declare module '../../http/context.ts' {
  interface App {
    /** Opens connections to addresses of users; see `guardedConnector`. */
    connectOut: buildConnector.connector;
  }
}

export interface EndpointSettings {
  APP_ENCRYPTION_KEY: string;
  encryptionKeys: readonly string[];
  WEBHOOK_ALLOWED_HOSTS: readonly string[];
}

const mostEndpoints = 10;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const longestReachDays = 30;

function endpointBody(row: WebhookEndpoint): EndpointBody {
  const { id, url, events, payload, ordered, status, failingSince, restingUntil } = row;
  return {
    ...{ id, url, description: row.description ?? null, events, payload, ordered, status },
    disabledReason: row.disabledReason ?? null,
    lastSequence: row.sequence,
    failingSince: failingSince?.toISOString() ?? null,
    restingUntil: restingUntil && restingUntil > new Date() ? restingUntil.toISOString() : null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** The endpoints of a project, the oldest first. */
export async function listEndpoints(db: Database, projectId: string): Promise<EndpointBody[]> {
  const rows = await db.em.find(WebhookEndpoint, { projectId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return rows.map(endpointBody);
}

/** One endpoint of the project. @throws 404 */
export async function getEndpoint(db: Database, projectId: string, id: string): Promise<EndpointBody> {
  return endpointBody(await load(db, projectId, id));
}

async function load(db: Database, projectId: string, id: string, lockMode?: LockMode): Promise<WebhookEndpoint> {
  const options = lockMode === undefined ? {} : { lockMode };
  const endpoint = await db.em.findOne(WebhookEndpoint, { projectId, id }, options);
  if (endpoint === null) throw notFound('webhook endpoint', id);
  return endpoint;
}

/**
 * Creates an endpoint and answers its signing secret, which nobody is shown again. At most 10 a project.
 * @throws 409 for one more; 422 for an address or an instant that cannot be used
 */
export async function createEndpoint(
  db: Database,
  settings: EndpointSettings,
  projectId: string,
  wanted: CreateEndpoint,
  now: Date,
): Promise<EndpointBody & { secret: string }> {
  checkUrl(wanted.url, settings);
  await refuseUnknownEvents(db, projectId, wanted.events);
  const from = startOf(wanted.from, now);
  const secret = newSecret();
  const row = await db.transaction(async (tx) => {
    // Two requests at once must not both see room for one more.
    await lockProject(tx, projectId);
    if ((await tx.em.count(WebhookEndpoint, { projectId })) >= mostEndpoints)
      throw conflict(`A project has at most ${mostEndpoints} webhook endpoints: delete one first`);
    const { url, description = null, events, payload, ordered } = wanted;
    const endpoint = tx.em.create(WebhookEndpoint, {
      ...{ projectId, url, description, events, payload, ordered, status: 'ENABLED' },
      secretSealed: seal(secret, settings.APP_ENCRYPTION_KEY),
      cursorAt: from,
      cursorId: leastId,
      countedFrom: from,
      sequence: 0,
      missing: 0,
    });
    await tx.em.flush();
    await recordChange(tx, projectId, {
      action: 'webhook_endpoint.created',
      target: endpoint.id,
      after: settingsOf(endpoint),
    });
    return endpoint;
  });
  return { ...endpointBody(row), secret };
}

function startOf(from: string, now: Date): Date {
  if (from === 'now') return now;
  const at = parseDate(from);
  if (at === null) throw invalidField('from', 'must be "now" or an ISO instant', 'invalid_date');
  if (now.getTime() - at.getTime() > longestReachDays * dayMs)
    throw invalidField('from', `must be at most ${longestReachDays} days ago`, 'too_small');
  return at > now ? now : at;
}

function checkUrl(text: string, { WEBHOOK_ALLOWED_HOSTS: allowed }: EndpointSettings): void {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw invalidField('url', 'must be an https address', 'invalid_string');
  if (url.username !== '' || url.password !== '')
    throw invalidField('url', 'must not hold a user name or password: verify the signature instead', 'invalid_string');
  const hosts = new Set(allowed.map((host) => host.toLowerCase()));
  const host = url.hostname.replace(/^\[(.+)\]$/, '$1');
  const isAllowed = hosts.has(host) || hosts.has(url.host);
  if (!isAllowed && url.port !== '' && isRefusedPort(Number(url.port)))
    throw invalidField(
      'url',
      `must not name port ${url.port}, which belongs to a service that does not speak HTTP`,
      'custom',
    );
  if (url.protocol === 'http:' && !isAllowed)
    throw invalidField(
      'url',
      'must begin with https:// (http works for hosts in WEBHOOK_ALLOWED_HOSTS only)',
      'invalid_string',
    );
}

/**
 * Changes an endpoint. `paused: false` enables a disabled one too: it continues with the first event that it did not take while it was
 * failing, whether or not that had attempts left. @throws 404, 422
 */
export async function patchEndpoint(
  db: Database,
  settings: EndpointSettings,
  projectId: string,
  id: string,
  change: PatchEndpoint,
): Promise<EndpointBody> {
  if (change.url !== undefined) checkUrl(change.url, settings);
  const row = await db.transaction(async (tx) => {
    const endpoint = await load(tx, projectId, id, LockMode.PESSIMISTIC_WRITE);
    const { status, events, failingSince, countedFrom } = endpoint;
    const before = settingsOf(endpoint);
    const added = (change.events ?? []).map((name) => (events.includes(name) ? '*' : name));
    await refuseUnknownEvents(tx, projectId, added);
    const { paused, ...given } = change;
    tx.em.assign(endpoint, { ...given, updatedAt: new Date() }, { ignoreUndefined: true });
    // Events that the feed has passed were chosen by the earlier subscription.
    const passed = new Date(endpoint.cursorAt.getTime() + 1);
    if (!isDeepStrictEqual(endpoint.events, events)) endpoint.countedFrom = passed > countedFrom ? passed : countedFrom;
    if (paused !== undefined) tx.em.assign(endpoint, { status: paused ? 'PAUSED' : 'ENABLED', disabledReason: null });
    if (paused === false) tx.em.assign(endpoint, { failingSince: null, restingUntil: null });
    if (status === 'DISABLED' && paused === false) await reviveDeliveries(tx, id, failingSince ?? null);
    await tx.em.flush();
    const settings = { before, after: settingsOf(endpoint) };
    await recordChange(tx, projectId, { action: 'webhook_endpoint.updated', target: id, ...settings });
    return endpoint;
  });
  return endpointBody(row);
}

// A delivery that failed for good notes when that was.
async function reviveDeliveries(tx: Database, endpointId: string, failingSince: Date | null): Promise<void> {
  await tx.count(sql`
    update webhook_deliveries d set status = 'PENDING', attempts = 0, due_at = now()
    where endpoint_id = ${endpointId} and (status = 'PENDING' or status = 'FAILED' and due_at >= ${failingSince?.toISOString()}::timestamptz
      and exists (select from events e where e.id = d.event_id))`);
}

/** Deletes an endpoint with its deliveries. @throws 404 */
export function deleteEndpoint(db: Database, projectId: string, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    const endpoint = await load(tx, projectId, id, LockMode.PESSIMISTIC_WRITE);
    const before = settingsOf(endpoint);
    tx.em.remove(endpoint);
    await recordChange(tx, projectId, { action: 'webhook_endpoint.deleted', target: id, before });
  });
}

// The path of an address may be a secret of its receiver.
function settingsOf({ url, events, payload, ordered, status }: WebhookEndpoint) {
  return { host: URL.parse(url)?.host, events, payload, ordered, status };
}

/** Gives the endpoint a new signing secret; calls carry signatures of both for so many hours. @throws 404 */
export async function rotateSecret(
  db: Database,
  settings: EndpointSettings,
  projectId: string,
  id: string,
  overlapHours: number,
): Promise<EndpointBody & { secret: string }> {
  const secret = newSecret();
  const row = await db.transaction(async (tx) => {
    const endpoint = await load(tx, projectId, id, LockMode.PESSIMISTIC_WRITE);
    tx.em.assign(endpoint, {
      oldSecretSealed: endpoint.secretSealed,
      oldSecretUntil: new Date(Date.now() + overlapHours * hourMs),
      secretSealed: seal(secret, settings.APP_ENCRYPTION_KEY),
    });
    await tx.em.flush();
    await recordChange(tx, projectId, {
      action: 'webhook_endpoint.secret_rotated',
      target: id,
      after: { overlapHours },
    });
    return endpoint;
  });
  return { ...endpointBody(row), secret };
}

/** Calls the endpoint once with a made-up event, signed like any other and part of no sequence. @throws 404 */
export async function testEndpoint(
  { db, connect, clock }: { db: Database; connect: buildConnector.connector; clock: Clock },
  settings: EndpointSettings,
  projectId: string,
  id: string,
  type: string,
) {
  const endpoint = await load(db, projectId, id);
  const eventId = newId();
  const body = payloadOf(
    {
      eventId,
      name: type,
      at: clock().toISOString(),
      data: { test: true },
      contact: { id: newId(), email: 'ada@example.com' },
      emailId: null,
    },
    endpoint.payload,
  );
  const { at, retryAfter, ...attempt } = await callEndpoint(
    { connect, clock },
    { url: endpoint.url, secrets: secretsOf(endpoint, settings.encryptionKeys) },
    { id: webhookIdOf(eventId), sequence: '0', body },
    new AbortController().signal,
  );
  const delivered = afterCall({ ...attempt, retryAfter }, 1, clock(), 0).status === 'DELIVERED';
  return { ...attempt, at: at.toISOString(), delivered, webhookId: webhookIdOf(eventId) };
}

/**
 * Notes a span of events to be delivered again; the endpoint's workflow queues them page by page.
 * @throws 404; 409 while another replay runs; 422 for a span that ends before it begins or reaches back more than 30 days
 */
export async function startReplay(
  db: Database,
  projectId: string,
  id: string,
  { since, until, events, only }: ReplayEvents,
  now: Date,
): Promise<ReplayBody> {
  const start = new Date(since);
  const end = until === undefined ? now : new Date(until);
  return db.transaction(async (tx) => {
    const endpoint = await load(tx, projectId, id, LockMode.PESSIMISTIC_WRITE);
    if (end < start) throw invalidField('until', 'must be after "since"', 'too_small');
    if (now.getTime() - start.getTime() > longestReachDays * dayMs)
      throw invalidField('since', `must be at most ${longestReachDays} days ago`, 'too_small');
    if ((await tx.em.count(WebhookReplay, { endpointId: id, status: 'RUNNING' })) > 0)
      throw conflict('A replay of this endpoint is running: wait until it is done');
    // The feed itself queues the events that it has not come to yet.
    const passed = new Date(endpoint.cursorAt.getTime() - 1);
    const replay = tx.em.create(WebhookReplay, {
      endpointId: id,
      since: start,
      until: end < passed ? end : passed,
      events: events ?? endpoint.events,
      only,
      status: 'RUNNING',
      placeAt: start,
      placeId: leastId,
      requeued: 0,
    });
    await tx.em.flush();
    return replayBody(replay);
  });
}

/** The replays of an endpoint, the latest first, at most 20. @throws 404 */
export async function listReplays(db: Database, projectId: string, id: string): Promise<ReplayBody[]> {
  await getEndpoint(db, projectId, id);
  const latest = { orderBy: { createdAt: 'desc' }, limit: 20 } as const;
  return (await db.em.find(WebhookReplay, { endpointId: id }, latest)).map(replayBody);
}

function replayBody({ id, since, until, events, only, status, requeued, createdAt }: WebhookReplay): ReplayBody {
  return {
    ...{ id, since: since.toISOString(), until: until.toISOString(), events, only, status, requeued },
    createdAt: createdAt.toISOString(),
  };
}
