import { inFlightMs } from '../../mail/engine/attempts.ts';
import { claimsUnconfirmed, retakeClaim } from './claims.ts';
import { deliverClaim } from './deliver-claim.ts';
import type { LaneDeps, LaneSend } from './lane-deps.ts';

/** When what is still unconfirmed can be looked up again, in milliseconds; null when nothing is. */
export interface SettledWhilePaused {
  waitMs: number | null;
}

// What another attempt holds is looked at again after this.
const othersMs = 5000;

/**
 * Looks up at the provider what became of claims of a paused send that may be there, and hands nothing over: what was not taken
 * is put back. `alive` is called after each claim and may throw. Safe to repeat.
 */
export async function settleWhilePaused(
  deps: LaneDeps,
  send: LaneSend,
  alive: () => void,
): Promise<SettledWhilePaused> {
  for (;;) {
    const claim = await retakeClaim(deps.db, send, inFlightMs(deps.mailer), true);
    if (claim === null) break;
    await deliverClaim(deps, send, { ...claim, probing: false, lookUpOnly: true, takenAt: performance.now() });
    alive();
  }
  const { open, dueMs } = await claimsUnconfirmed(deps.db, send.campaignId, send.sendSeq);
  return { waitMs: open === 0 ? null : (dueMs ?? othersMs) };
}
