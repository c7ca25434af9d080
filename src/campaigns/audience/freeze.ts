import type { LimitFunction } from 'p-limit';
import type { BillingSettings } from '../../billing/service.ts';
import { AppError } from '../../lib/errors.ts';
import { leastId } from '../../lib/ids.ts';
import type { Clock } from '../../lib/time.ts';
import type { Database } from '../../store/sql.ts';
import type { LaunchGate, ReviewedSend } from '../launch.ts';
import { noteCampaign } from '../state.ts';
import { type AudienceCursor, openAudience } from './cursor.ts';
import { type ExpandedCampaign, type Expansion, expandPage, expansionPage } from './expansion.ts';

/** The parts that freezing an audience needs. */
export interface ExpansionDeps {
  db: Database;
  billing: BillingSettings;
  clock: Clock;
  launchGate: LaunchGate;
  /**
   * Limits the audiences that are read at once in this process: each holds a connection and asks for a second one, so that
   * as many as there are connections would wait for one another for ever.
   */
  cursors: LimitFunction;
  /** Contacts that one statement freezes at most; 5,000 when absent. */
  expansionPage?: number;
}

/**
 * Freezes the rest of an audience into ledger rows, page by page. Ends early when a twin moved the cursor or the send is
 * over: load it again. `onPage` gets how many rows there are before each page, and may throw.
 */
export async function expandFrom(
  deps: ExpansionDeps,
  send: ExpandedCampaign & Expansion,
  onPage: (count: number) => void,
): Promise<void> {
  const { reviewId } = send;
  if (reviewId) return deps.cursors(() => expandReviewed(deps, { ...send, reviewId }, onPage));
  if (send.audienceType !== 'ALL' || send.resendOf) return deps.cursors(() => expandChosen(deps, send, onPage));
  const most = deps.expansionPage ?? expansionPage;
  let { through, count } = send;
  // Pages grow, so that the lanes have something to do soon.
  for (let size = Math.min(firstPage, most); ; size = Math.min(2 * size, most)) {
    onPage(count);
    const page = await expandPage(deps.db, deps.billing, send, through, { size });
    if (page === null || page.expanded) return;
    ({ through, count } = page);
  }
}

const firstPage = 1000;

async function expandChosen(
  deps: ExpansionDeps,
  send: ExpandedCampaign & Expansion,
  onPage: (count: number) => void,
): Promise<void> {
  const size = deps.expansionPage ?? expansionPage;
  let { through, count } = send;
  const audience = await evaluated(deps, send);
  try {
    let ids = await audience.next(size);
    for (;;) {
      onPage(count);
      const following = ids.length < size ? [] : await audience.next(size);
      const page = await expandPage(deps.db, deps.billing, send, through, { ids, last: following.length === 0 });
      if (page === null || page.expanded) return;
      ({ through, count } = page);
      ids = following;
    }
  } finally {
    await audience.close();
  }
}

async function expandReviewed(
  deps: ExpansionDeps,
  send: ReviewedSend & Expansion,
  onPage: (count: number) => void,
): Promise<void> {
  let { through, count } = send;
  const audience = await evaluated(deps, send);
  const reviewed = deps.launchGate.reviewed(deps.db, send, audience, deps.expansionPage ?? expansionPage);
  try {
    for (;;) {
      onPage(count);
      const page = await expandPage(deps.db, deps.billing, send, through, await reviewed.next(through));
      if (page === null || page.expanded) return;
      ({ through, count } = page);
    }
  } finally {
    await audience.close();
  }
}

const nobody: AudienceCursor = { next: async () => [], close: async () => undefined };

// A condition that was sent and can no longer be read matches nobody: a send that waits for it would never end.
async function evaluated({ db, clock }: ExpansionDeps, send: ExpandedCampaign & Expansion): Promise<AudienceCursor> {
  const start = { after: send.through ?? leastId, createdBy: send.sentAt, now: clock() };
  try {
    return await openAudience(db, send, start);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    await noteCampaign(db, send.campaignId, send.sendSeq, `Its audience cannot be found: ${error.message}`);
    return nobody;
  }
}
