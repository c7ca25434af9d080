import { isoInstant } from '../db/columns.ts';
import { type Sql, statement } from '../db/sql.ts';
import { AppError, badRequest } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';

const claimKey = statement(
  'idempotency.claim',
  `insert into idempotency_keys as k (id, project_id, key, method, path, expires_at)
   values ($1, $2, $3, $4, $5, now() + make_interval(hours => $6))
   on conflict (project_id, key) do update set id = excluded.id, method = excluded.method, path = excluded.path,
     status_code = null, created_at = now(), expires_at = excluded.expires_at
     where k.expires_at <= now()
   returning id`,
);
const findKey = statement(
  'idempotency.find',
  `select method, path, status_code as "statusCode", created_at::text as "createdAt"
   from idempotency_keys where project_id = $1 and key = $2`,
);
const settleKey = statement('idempotency.settle', 'update idempotency_keys set status_code = $2 where id = $1');
const releaseKey = statement('idempotency.release', 'delete from idempotency_keys where id = $1');

/** A claimed key: settled when the request succeeded or failed on our side, released when it wrote nothing. */
export interface IdempotencyClaim {
  finish(statusCode: number): Promise<void>;
}

/**
 * Claims the `Idempotency-Key` of a request (contract page 1, 1.8) before its handler runs.
 * @throws 400 for a key that is none, 409 IDEMPOTENCY_KEY_REUSED when another request has it
 */
export async function claimIdempotencyKey(
  sql: Sql,
  projectId: string,
  key: string,
  request: { method: string; path: string },
  ttlHours: number,
): Promise<IdempotencyClaim> {
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw badRequest('The Idempotency-Key header must have 1 to 255 printable ASCII characters');
  // The holder may release the key between the two statements; then it is free and the claim is tried again.
  for (let attempt = 0; attempt < 3; attempt++) {
    const id = newId();
    if (await sql.row(claimKey, [id, projectId, key, request.method, request.path, ttlHours]))
      return {
        async finish(statusCode) {
          if (statusCode >= 400 && statusCode < 500) await sql.count(releaseKey, [id]);
          else await sql.count(settleKey, [id, statusCode]);
        },
      };
    const earlier = await sql.row<{ method: string; path: string; statusCode: number | null; createdAt: string }>(
      findKey,
      [projectId, key],
    );
    if (earlier) throw reused(key, earlier);
  }
  throw new Error('The idempotency key could neither be claimed nor found');
}

function reused(
  key: string,
  earlier: { method: string; path: string; statusCode: number | null; createdAt: string },
): AppError {
  return new AppError(409, 'IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used before', {
    details: {
      key,
      originalRequest: `${earlier.method} ${earlier.path}`,
      originalRequestAt: isoInstant(earlier.createdAt),
      originalStatusCode: earlier.statusCode,
    },
    suggestion: 'Use a new key for a new request.',
  });
}
