import { type Database, sql } from '../../core/database/sql.ts';
import { enqueueAll, type OutboxTicket } from '../../core/outbox/enqueue.ts';
import { reasonText } from '../ledger/index.ts';
import { wakeCampaign } from './launch.ts';
import { unscheduleSend } from './state.ts';

/**
 * Moves every scheduled campaign of a disabled project back to DRAFT, in the caller's transaction. Give the tickets to
 * `Outbox.dispatchSoon` after the commit. What is being sent ends by itself: each claim asks whether the project may send.
 */
export async function unscheduleCampaigns(tx: Database, projectId: string): Promise<OutboxTicket[]> {
  const campaigns = await tx.rows<{ id: string; sendSeq: number }>(sql`
    select id, send_seq as "sendSeq" from campaigns
    where project_id = ${projectId} and status = 'SCHEDULED' order by id for no key update`);
  for (const { id, sendSeq } of campaigns)
    await unscheduleSend(tx, id, sendSeq, reasonText({ code: 'project_disabled' }));
  return enqueueAll(
    tx,
    campaigns.map(({ id, sendSeq }) => wakeCampaign(id, sendSeq)),
  );
}
