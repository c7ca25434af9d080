import { AppError, badRequest } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { pause } from '../lib/time.ts';
import { isoInstant } from '../store/columns.ts';
import { isLostConnection } from '../store/postgres/connection.ts';
import { type Database, repeatable, sql, type WriteOnce } from '../store/sql.ts';

/** An `Idempotency-Key`, and the request that came with it. */
export interface KeyedRequest {
  projectId: string;
  key: string;
  /** Whether the key is apart from those of the project: the public key made the request, and has its own. */
  isApart: boolean;
  method: string;
  path: string;
  /** Status of the answer if the request succeeds. */
  successStatus: number;
  ttlHours: number;
  /** SHA-256 of the request, where a repetition is to get its answer again; null for a repetition that is to be refused. */
  requestHash: string | null;
}

interface StoredKey {
  id: string;
  method: string;
  path: string;
  statusCode: number | null;
  createdAt: string;
  requestHash: string | null;
  answer: string | null;
}

/** Thrown in place of an answer: the request repeats one that was answered like this. */
export class RepeatedRequest extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super('This request was answered before');
    this.status = status;
    this.body = body;
  }
}

/** Largest answer that is kept for repetitions, in bytes. */
const mostAnswerBytes = 64 * 1024;

/** Keeps what a request is answered, for its repetitions; call it in the transaction of `writeOnceWith`. Too large a one is not kept. */
export async function keepAnswer(tx: Database, request: KeyedRequest, body: unknown): Promise<void> {
  const answer = JSON.stringify(body);
  if (Buffer.byteLength(answer) > mostAnswerBytes) return;
  await tx.count(sql`
    update idempotency_keys set answer = ${answer}
      where project_id = ${request.projectId} and key = ${storedKey(request)}`);
}

// A header cannot have this character, so no other key is equal to one that is apart.
function storedKey({ key, isApart }: KeyedRequest): string {
  return isApart ? `\u0001${key}` : key;
}

/** @throws 400 for a header that is no key (docs/contract/core.md#1-8) */
export function checkIdempotencyKey(key: string): void {
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw badRequest('The Idempotency-Key header must have 1 to 255 printable ASCII characters');
}

/**
 * Whether a repetition gets the first answer again (docs/contract/reach.md#1-replay). @throws 400 for a mode that is none, or
 * without a key
 */
export function isReplayMode(mode: string, hasKey: boolean): boolean {
  if (mode === '') return false;
  if (mode !== 'replay') throw badRequest('The Idempotency-Mode header must be "replay", or absent');
  if (!hasKey) throw badRequest('The Idempotency-Mode header needs an Idempotency-Key');
  return true;
}

/**
 * The `WriteOnce` of a request with a key: key and work are one transaction, so that a repetition of a request that was cut
 * off finds it done or does it. A second request with the key waits until the first has ended. Whether a commit whose answer
 * was lost has happened is found out by claiming the key again.
 * @throws 409 IDEMPOTENCY_KEY_REUSED when another request has used the key, RepeatedRequest when that had the same content and its
 * answer is kept, 503 when nobody can tell whether this one has used it
 */
export function writeOnceWith(db: Database, request: KeyedRequest): WriteOnce {
  const id = newId();
  return async <T>(work: (db: Database) => Promise<T>, keepsKey: (result: T) => boolean = () => true): Promise<T> => {
    // `done` waits for its commit; `unsure` is work whose commit was not answered.
    const seen: Record<'done' | 'unsure', { result: T } | null> = { done: null, unsure: null };
    for (let attempt = 0; ; attempt++) {
      seen.done = null;
      try {
        return await repeatable(db, async (tx) => {
          const earlier = await claim(tx, id, request);
          if (earlier?.id === id && seen.unsure !== null) return seen.unsure.result;
          if (earlier !== null) throw repetitionOf(request, earlier);
          seen.unsure = null;
          const result = await work(tx);
          if (!keepsKey(result)) await tx.count(sql`delete from idempotency_keys where id = ${id}`);
          seen.done = { result };
          return result;
        });
      } catch (error) {
        if (seen.done !== null && isLostConnection(error)) seen.unsure = seen.done;
        if (seen.unsure === null || error instanceof AppError) throw error;
        if (attempt >= commitChecks) throw outcomeUnknown();
        await pause(commitCheckMs * 2 ** attempt);
      }
    }
  };
}

// Together some three seconds: as long as a failover within one machine or a restart of a pooler takes.
const commitChecks = 5;
const commitCheckMs = 100;

/** Claims the key for the request with this id. Null when it has it, else the request that has. */
async function claim(tx: Database, id: string, request: KeyedRequest): Promise<StoredKey | null> {
  const { projectId, method, path, successStatus, ttlHours, requestHash } = request;
  // The holder may expire or be removed between the two statements; then the key is free and is claimed again.
  for (let attempt = 0; attempt < 3; attempt++) {
    // Nobody sees the row before its transaction is committed, and then the request has succeeded: the status is known here.
    const claimed = await tx.count(sql`
      insert into idempotency_keys as k (id, project_id, key, method, path, status_code, request_hash, expires_at)
        values (${id}, ${projectId}, ${storedKey(request)}, ${method}, ${path}, ${successStatus}, ${requestHash},
          now() + make_interval(hours => ${ttlHours}))
        on conflict (project_id, key) do update set id = excluded.id, method = excluded.method, path = excluded.path,
          status_code = excluded.status_code, created_at = now(), expires_at = excluded.expires_at,
          request_hash = excluded.request_hash, answer = null, email_ids = null
          where k.expires_at <= now()`);
    if (claimed > 0) return null;
    const earlier = await findKey(tx, request);
    if (earlier) return earlier;
  }
  throw new Error('The idempotency key could neither be claimed nor found');
}

function findKey(db: Database, request: KeyedRequest): Promise<StoredKey | null> {
  return db.row(sql`
    select id, method, path, status_code as "statusCode", created_at::text as "createdAt",
      request_hash as "requestHash", answer
      from idempotency_keys where project_id = ${request.projectId} and key = ${storedKey(request)} and expires_at > now()`);
}

/**
 * Returns the response to a refused request with a key: 409, or the first answer, where a request has used the key, which counts
 * before the body does (docs/contract/core.md#1-4), and the refusal itself where none has.
 */
export async function refusalOfKeyed(
  db: Database,
  request: KeyedRequest,
  refusal: AppError,
): Promise<AppError | RepeatedRequest> {
  const earlier = await findKey(db, request);
  return earlier === null ? refusal : repetitionOf(request, earlier);
}

function repetitionOf({ key, requestHash }: KeyedRequest, earlier: StoredKey): AppError | RepeatedRequest {
  if (requestHash !== null && earlier.requestHash === requestHash && earlier.answer !== null)
    return new RepeatedRequest(earlier.statusCode ?? 200, JSON.parse(earlier.answer));
  return new AppError(409, 'IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used before', {
    details: {
      key,
      originalRequest: `${earlier.method} ${earlier.path}`,
      originalRequestAt: isoInstant(earlier.createdAt),
      originalStatusCode: earlier.statusCode,
    },
    suggestion:
      'If this repeats an earlier request, stop: that one was accepted, and there is nothing to send again. Use a new key for a different request.',
  });
}

function outcomeUnknown(): AppError {
  const message = 'The database became unavailable before it confirmed whether the request was accepted';
  return new AppError(503, 'DATABASE_ERROR', message, {
    suggestion:
      'Repeat the request with the same Idempotency-Key: it is accepted then, or answered 409 because it already was.',
    headers: { 'Retry-After': '5' },
  });
}
