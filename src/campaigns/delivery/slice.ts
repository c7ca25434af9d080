import { raw } from '../../store/sql.ts';

/**
 * Members `m` of canaries, each with its row `e` of the ledger. The limit keeps the planner from joining the tables in another way: to
 * its statistics a campaign that has just been written down is one row, and comparing each of its rows with each member takes
 * minutes (measured: 100,000 recipients with a canary of 5,000).
 */
export const canaryLedger = raw(`
  campaign_canary_contacts m cross join lateral (
    select * from emails
    where campaign_id = m.campaign_id and send_seq = m.send_seq and contact_id = m.contact_id limit 1) e`);

/** The ledger of a send, or of its canary alone, as `e`; `key` is the table whose key ranges of contacts are of. */
export function ledgerOf(canary: boolean) {
  return canary ? { from: canaryLedger, key: raw('m') } : { from: raw('emails e'), key: raw('e') };
}
