/** A failure of Postgres that passes: why, in words for a caller, and when to try again. */
export interface PassingFailure {
  reason: string;
  retryAfterSeconds: number;
}

const busy = (reason: string): PassingFailure => ({ reason, retryAfterSeconds: 2 });
const away: PassingFailure = { reason: 'The database cannot be reached', retryAfterSeconds: 5 };

// PostgreSQL manual, appendix A. Two characters stand for a whole class.
const byState: Readonly<Record<string, PassingFailure>> = {
  '08': away,
  '53': { reason: 'The database is out of connections, memory or disk space', retryAfterSeconds: 5 },
  '25006': { reason: 'The database takes no writes at the moment', retryAfterSeconds: 5 },
  '25P03': busy('The database ended a transaction that waited too long'),
  '25P04': busy('The database ended a transaction that took too long'),
  '40001': busy('Another change was made at the same time'),
  '40P01': busy('Another change was made at the same time'),
  '55P03': busy('Another change holds what this request needs'),
  '57014': busy('The database took too long over this request'),
  '57P01': away,
  '57P02': away,
  '57P03': away,
  '57P05': away,
};

const networkCodes = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** What passes among the failures of Postgres, of the network to it and of the pool; null for every other error. */
export function passingFailure(error: unknown): PassingFailure | null {
  if (!(error instanceof Error)) return null;
  // What `pg` and `pg-pool` say; these errors have no code.
  if (error.message.startsWith('timeout exceeded when trying to connect'))
    return busy('Every connection to the database is in use');
  if (/^(Connection terminated|Query read timeout|Client (was|has) .* not queryable)/.test(error.message)) return away;
  const { code } = error as Error & { code?: unknown };
  if (typeof code !== 'string') return null;
  if (networkCodes.test(code)) return away;
  return isDatabaseError(error) ? (byState[code] ?? byState[code.slice(0, 2)] ?? null) : null;
}

/** Whether the connection was lost, or could not be made, so that nobody heard what became of a statement. */
export function isLostConnection(error: unknown): boolean {
  return passingFailure(error) === away;
}

/** Whether Postgres undid a statement that met another change, or waited too long for one. */
export function isConflict(error: unknown): boolean {
  return (
    isDatabaseError(error) && ['40001', '40P01', '55P03', '57014'].includes((error as { code?: string }).code ?? '')
  );
}

/** Whether Postgres itself answered with this error. */
export function isDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, severity } = error as Error & { code?: unknown; severity?: unknown };
  return typeof severity === 'string' && typeof code === 'string';
}
