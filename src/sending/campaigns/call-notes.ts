import { type CallReport, noteCall } from '../engine/index.ts';
import type { LaneDeps } from './lane-deps.ts';

// A success is worth a statement only now and then: it matters only after failures, which this process may not know of.
const lastSuccess = new Map<string, number>();
const successEveryMs = 1000;

/** Notes a call for the breaker; answers whether the provider is held. Never rejects. */
export async function noteQuietly(deps: LaneDeps, report: CallReport, probing: boolean): Promise<boolean> {
  if (report === null && !probing) return false;
  const { name } = deps.mailer;
  if (report?.ok && !probing && performance.now() - (lastSuccess.get(name) ?? -Infinity) < successEveryMs) return false;
  if (report?.ok) lastSuccess.set(name, performance.now());
  else lastSuccess.delete(name);
  try {
    return await noteCall(deps.db, name, report, probing);
  } catch (error) {
    deps.log.warn({ err: error }, 'a call of the mail provider could not be noted');
    return false;
  }
}
