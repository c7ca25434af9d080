import { type CallReport, noteCall } from './breaker.ts';
import type { EngineDeps } from './deps.ts';

// A success is worth a statement only now and then: it matters only after failures, which this process may not know of.
const lastSuccess = new Map<string, number>();
const successEveryMs = 1000;

/** Notes a call for the circuit breaker; answers whether the provider is held. Never rejects. */
export async function noteQuietly(
  { db, mailer: { name }, log }: EngineDeps,
  report: CallReport,
  probing: boolean,
): Promise<boolean> {
  if (report === null && !probing) return false;
  if (report?.ok && !probing && performance.now() - (lastSuccess.get(name) ?? -Infinity) < successEveryMs) return false;
  if (report?.ok) lastSuccess.set(name, performance.now());
  else lastSuccess.delete(name);
  try {
    return await noteCall(db, name, report, probing);
  } catch (error) {
    log.warn({ err: error }, 'a call of the mail provider could not be noted');
    return false;
  }
}
