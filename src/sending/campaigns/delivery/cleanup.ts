import { inFlightMs } from '../../engine/index.ts';
import { hasDeparted } from '../state.ts';
import { claimsOpen, retakeClaim } from './claims.ts';
import { closeCancelledSend, endUnsentRows, revertToDraft, viewSend } from './completion.ts';
import { deliverClaim } from './deliver-claim.ts';
import type { LaneDeps, LaneSend } from './lane-deps.ts';

/** How a cleanup ended; `waitMs` says when the claims that are still unconfirmed can be asked for again. */
export type CleanUpReport = { done: true; status: 'DRAFT' | 'CANCELLED' } | { done: false; waitMs: number };

const unconfirmedPauseMs = 5000;

/**
 * Ends a cancelled send: first what became of messages without a verdict, then the rows that were never sent. When nothing
 * has departed the rows are deleted and the campaign is a draft again; else they are FAILED and it stays CANCELLED
 * (docs/contract/campaigns-and-workflows.md#2-2). Safe to repeat from any point.
 */
export async function cleanUpCancelled(deps: LaneDeps, send: LaneSend, alive: () => void): Promise<CleanUpReport> {
  const { campaignId, sendSeq } = send;
  const view = await viewSend(deps.db, campaignId, sendSeq);
  if (view === null || view.status !== 'CANCELLED') return { done: true, status: 'DRAFT' };
  for (;;) {
    const claim = await retakeClaim(deps.db, send, inFlightMs(deps.mailer));
    if (claim === null) break;
    await deliverClaim(deps, send, { ...claim, sending: false, probing: false, takenAt: performance.now() });
    alive();
  }
  const left = await claimsOpen(deps.db, campaignId, sendSeq, send.holder);
  if (left.open > 0) return { done: false, waitMs: Math.min(left.dueMs ?? unconfirmedPauseMs, unconfirmedPauseMs) };

  if (!(await hasDeparted(deps.db, campaignId, sendSeq))) {
    await endUnsent('delete');
    if (await revertToDraft(deps.db, campaignId, sendSeq)) return { done: true, status: 'DRAFT' };
  }
  // A notification may have proved in the meantime that something departed after all; then the rest is kept as well.
  await endUnsent('fail');
  await closeCancelledSend(deps.db, campaignId, sendSeq);
  return { done: true, status: 'CANCELLED' };

  async function endUnsent(how: 'delete' | 'fail'): Promise<void> {
    let after: string | null = null;
    do {
      after = await endUnsentRows(deps.db, campaignId, sendSeq, how, after);
      alive();
    } while (after !== null);
  }
}
