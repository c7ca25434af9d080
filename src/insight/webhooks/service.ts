import type { buildConnector } from 'undici';
import { isRefusedPort } from '../../http/guarded-requests/guard.ts';
import { conflict, invalidField, notFound } from '../../lib/errors.ts';
import { leastId, newId } from '../../lib/ids.ts';
import { seal, unseal } from '../../lib/seal.ts';
import { type Clock, parseDate } from '../../lib/time.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { isoInstant, isoInstantOrNull } from '../../store/columns.ts';
import { type Database, sql } from '../../store/sql.ts';
import { callEndpoint } from './deliver.ts';
import { newSecret, payloadOf, refuseUnknownEvents, webhookIdOf } from './payload.ts';
import { afterCall } from './retries.ts';
import type { CreateEndpoint, EndpointBody, PatchEndpoint, ReplayBody, ReplayEvents } from './schema.ts';

declare module '../../http/context.ts' {
  interface App {
    /** Opens connections to addresses of users; see `guardedConnector`. */
    connectOut: buildConnector.connector;
  }
}

/** What the settings say of endpoints. */
export interface EndpointSettings {
  APP_ENCRYPTION_KEY: string;
  encryptionKeys: readonly string[];
  WEBHOOK_ALLOWED_HOSTS: readonly string[];
}

const mostEndpoints = 10;
const dayMs = 86_400_000;
const longestReachDays = 30;

interface EndpointRow extends EndpointBody {
  projectId: string;
}

const columns = sql`id, project_id as "projectId", url, description, events, payload, ordered, status, disabled_reason as "disabledReason",
  sequence::float8 as "lastSequence", failing_since::text as "failingSince",
  case when resting_until > now() then resting_until::text end as "restingUntil",
  created_at::text as "createdAt", updated_at::text as "updatedAt"`;

function endpointBody({ projectId: _, ...row }: EndpointRow): EndpointBody {
  return {
    ...row,
    failingSince: isoInstantOrNull(row.failingSince),
    restingUntil: isoInstantOrNull(row.restingUntil),
    createdAt: isoInstant(row.createdAt),
    updatedAt: isoInstant(row.updatedAt),
  };
}

/** The endpoints of a project, the oldest first. */
export async function listEndpoints(db: Database, projectId: string): Promise<EndpointBody[]> {
  const rows = await db.rows<EndpointRow>(
    sql`select ${columns} from webhook_endpoints where project_id = ${projectId} order by created_at, id`,
  );
  return rows.map(endpointBody);
}

/** One endpoint of the project. @throws 404 */
export async function getEndpoint(db: Database, projectId: string, id: string): Promise<EndpointBody> {
  const row = await db.row<EndpointRow>(
    sql`select ${columns} from webhook_endpoints where project_id = ${projectId} and id = ${id}`,
  );
  return endpointBody(found(row, id));
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
    await tx.row(sql`select from projects where id = ${projectId} for no key update`);
    const { count } = (await tx.row<{ count: number }>(
      sql`select count(*)::int as count from webhook_endpoints where project_id = ${projectId}`,
    )) ?? { count: 0 };
    if (count >= mostEndpoints)
      throw conflict(`A project has at most ${mostEndpoints} webhook endpoints: delete one first`);
    const created = await tx.row<EndpointRow>(sql`
      insert into webhook_endpoints (id, project_id, url, description, events, payload, ordered, secret_sealed, cursor_at, cursor_id, counted_from)
      values (${newId()}, ${projectId}, ${wanted.url}, ${wanted.description ?? null}, ${wanted.events}, ${wanted.payload}, ${wanted.ordered},
        ${seal(secret, settings.APP_ENCRYPTION_KEY)}, ${from}::timestamptz, ${leastId}, ${from}::timestamptz)
      returning ${columns}`);
    const after = found(created, '');
    await recordChange(tx, projectId, {
      action: 'webhook_endpoint.created',
      target: after.id,
      after: settingsOf(after),
    });
    return after;
  });
  return { ...endpointBody(row), secret };
}

function startOf(from: string, now: Date): string {
  if (from === 'now') return now.toISOString();
  const at = parseDate(from);
  if (at === null) throw invalidField('from', 'must be "now" or an ISO instant', 'invalid_date');
  if (now.getTime() - at.getTime() > longestReachDays * dayMs)
    throw invalidField('from', `must be at most ${longestReachDays} days ago`, 'too_small');
  return at > now ? now.toISOString() : at.toISOString();
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
  const has = (key: keyof PatchEndpoint) => change[key] !== undefined;
  const row = await db.transaction(async (tx) => {
    const before = await lockedEndpoint(tx, projectId, id);
    const added = (change.events ?? []).map((name) => (before.events.includes(name) ? '*' : name));
    await refuseUnknownEvents(tx, projectId, added);
    const changed = await tx.row<EndpointRow>(sql`
        update webhook_endpoints set url = coalesce(${change.url ?? null}, url),
          description = case when ${has('description')} then ${change.description ?? null} else description end,
          events = coalesce(${change.events ?? null}::text[], events),
          counted_from = case when ${has('events')} and events <> ${change.events ?? []}::text[] then greatest(counted_from, cursor_at) else counted_from end,
          payload = coalesce(${change.payload ?? null}, payload), ordered = coalesce(${change.ordered ?? null}::boolean, ordered),
          status = case ${change.paused ?? null}::boolean when true then 'PAUSED' when false then 'ENABLED' else status end,
          disabled_reason = case when ${has('paused')} then null else disabled_reason end,
          failing_since = case when ${change.paused === false} then null else failing_since end,
          resting_until = case when ${change.paused === false} then null else resting_until end,
          updated_at = now()
        where project_id = ${projectId} and id = ${id}
        returning ${columns}`);
    const after = found(changed, id);
    if (before.status === 'DISABLED' && after.status === 'ENABLED') await reviveDeliveries(tx, before);
    const settings = { before: settingsOf(before), after: settingsOf(after) };
    await recordChange(tx, projectId, { action: 'webhook_endpoint.updated', target: after.id, ...settings });
    return after;
  });
  return endpointBody(row);
}

// A delivery that failed for good notes when that was.
async function reviveDeliveries(tx: Database, { id, failingSince }: EndpointRow): Promise<void> {
  await tx.count(sql`
    update webhook_deliveries d set status = 'PENDING', attempts = 0, due_at = now()
    where endpoint_id = ${id} and (status = 'PENDING' or status = 'FAILED' and due_at >= ${failingSince}::timestamptz
      and exists (select from events e where e.id = d.event_id))`);
}

/** Deletes an endpoint with its deliveries. @throws 404 */
export function deleteEndpoint(db: Database, projectId: string, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    const before = await lockedEndpoint(tx, projectId, id);
    await tx.count(sql`delete from webhook_endpoints where project_id = ${projectId} and id = ${id}`);
    await recordChange(tx, projectId, {
      action: 'webhook_endpoint.deleted',
      target: before.id,
      before: settingsOf(before),
    });
  });
}

async function lockedEndpoint(tx: Database, projectId: string, id: string): Promise<EndpointRow> {
  const row = await tx.row<EndpointRow>(
    sql`select ${columns} from webhook_endpoints where project_id = ${projectId} and id = ${id} for update`,
  );
  return found(row, id);
}

// The path of an address may be a secret of its receiver.
function settingsOf({ url, events, payload, ordered, status }: EndpointRow) {
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
    await lockedEndpoint(tx, projectId, id);
    const rotated = await tx.row<EndpointRow>(sql`
        update webhook_endpoints set old_secret_sealed = secret_sealed,
          old_secret_until = now() + ${overlapHours}::int * interval '1 hour',
          secret_sealed = ${seal(secret, settings.APP_ENCRYPTION_KEY)}, updated_at = now()
        where project_id = ${projectId} and id = ${id}
        returning ${columns}`);
    await recordChange(tx, projectId, {
      action: 'webhook_endpoint.secret_rotated',
      target: id,
      after: { overlapHours },
    });
    return found(rotated, id);
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
  const endpoint = await db.row<{ url: string; payload: 'full' | 'thin'; secrets: string[] }>(sql`
    select url, payload, array_remove(array[secret_sealed, case when old_secret_until > now() then old_secret_sealed end], null)
      as secrets
    from webhook_endpoints where project_id = ${projectId} and id = ${id}`);
  const { url, payload, secrets } = found(endpoint, id);
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
    payload,
  );
  const { at, retryAfter, ...attempt } = await callEndpoint(
    { connect, clock },
    { url, secrets: secrets.map((sealed) => unseal(sealed, settings.encryptionKeys)) },
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
  const endpoint = await getEndpoint(db, projectId, id);
  const end = until ?? now.toISOString();
  if (Date.parse(end) < Date.parse(since)) throw invalidField('until', 'must be after "since"', 'too_small');
  if (now.getTime() - Date.parse(since) > longestReachDays * dayMs)
    throw invalidField('since', `must be at most ${longestReachDays} days ago`, 'too_small');
  // What the feed has not come to yet, it queues itself.
  const row = await db.row<ReplayBody>(sql`
    insert into webhook_replays (id, endpoint_id, since, until, events, "only", place_at, place_id)
    select ${newId()}, id, ${since}::timestamptz, least(${end}::timestamptz, date_trunc('milliseconds', cursor_at) - interval '1 millisecond'),
      ${events ?? endpoint.events}, ${only}, ${since}::timestamptz, ${leastId}
    from webhook_endpoints where id = ${id}
    on conflict (endpoint_id) where status = 'RUNNING' do nothing
    returning id, since::text as since, until::text as until, events, "only", status, requeued, created_at::text as "createdAt"`);
  if (row === null) throw conflict('A replay of this endpoint is running: wait until it is done');
  return replayBody(row);
}

/** The replays of an endpoint, the latest first, at most 20. @throws 404 */
export async function listReplays(db: Database, projectId: string, id: string): Promise<ReplayBody[]> {
  await getEndpoint(db, projectId, id);
  const rows = await db.rows<ReplayBody>(sql`
    select id, since::text as since, until::text as until, events, "only", status, requeued, created_at::text as "createdAt"
    from webhook_replays where endpoint_id = ${id} order by created_at desc limit 20`);
  return rows.map(replayBody);
}

function replayBody(row: ReplayBody): ReplayBody {
  return {
    ...row,
    since: isoInstant(row.since),
    until: isoInstant(row.until),
    createdAt: isoInstant(row.createdAt),
  };
}

function found<Row>(row: Row | null, id: string): Row {
  if (row === null) throw notFound('webhook endpoint', id);
  return row;
}
