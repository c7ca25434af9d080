import { needsSubscription, sourceTypeOf } from '../../campaigns/audience/audience.ts';
import type { AudienceCursor } from '../../campaigns/audience/cursor.ts';
import type { ReviewedContacts, ReviewedSend } from '../../campaigns/launch.ts';
import { leastId } from '../../lib/ids.ts';
import { acceptingMail } from '../../mail/ledger/accept.ts';
import { type Database, sql } from '../../store/sql.ts';

/** Reads a reviewed audience beside the audience as it is now, both in the order of contacts. */
export class ReviewedAudience implements ReviewedContacts {
  readonly #db: Database;
  readonly #send: ReviewedSend;
  readonly #now: AudienceCursor;
  readonly #size: number;
  #ahead: string[] = [];
  #isRead = false;

  constructor(db: Database, send: ReviewedSend, now: AudienceCursor, size: number) {
    this.#db = db;
    this.#send = send;
    this.#now = now;
    this.#size = size;
  }

  async next(after: string | null) {
    const rows = await this.#db.rows<{ id: string; isOut: boolean }>(sql`
      select contact_id as id, left_out is not null as "isOut" from dry_run_rows
      where dry_run_id = ${this.#send.reviewId} and contact_id > ${after ?? leastId}::uuid order by contact_id limit ${this.#size}`);
    const through = rows.at(-1)?.id ?? null;
    const members = through === null ? new Set<string>() : await this.#membersUpTo(through);
    const ids = rows.flatMap(({ id, isOut }) => (!isOut && members.has(id) ? id : []));
    const last = rows.length < this.#size;
    return { ids, through, last, writeLeftOut: (tx: Database) => insertLeftOut(tx, this.#send, after, through) };
  }

  async #membersUpTo(through: string): Promise<Set<string>> {
    const members = new Set<string>();
    for (;;) {
      const end = this.#ahead.findIndex((id) => id > through);
      for (const id of end === -1 ? this.#ahead : this.#ahead.slice(0, end)) members.add(id);
      this.#ahead = end === -1 ? [] : this.#ahead.slice(end);
      if (end !== -1 || this.#isRead) return members;
      this.#ahead = await this.#now.next(this.#size);
      this.#isRead = this.#ahead.length < this.#size;
    }
  }
}

/**
 * Writes a row for each reviewed contact of a page who gets nothing, with the reason: left out at the review, unsubscribed, or
 * no longer in the audience. Call it once the rows of the others are there. Returns how many.
 */
async function insertLeftOut(
  tx: Database,
  { projectId, campaignId, sendSeq, from, fromName, replyTo, type, reviewId }: ReviewedSend,
  after: string | null,
  through: string | null,
): Promise<number> {
  if (through === null) return 0;
  const accepting = acceptingMail({
    projectId,
    columns: `id, project_id, contact_id, to_address, "from", from_name, reply_to, source_type, message_class, campaign_id, send_seq,
      status, reason`,
    rows: sql`
      select uuidv7(), ${projectId}::uuid, c.id, c.email, ${from}, ${fromName}, ${replyTo}, ${sourceTypeOf(type)}, ${type},
        ${campaignId}::uuid, ${sendSeq}::int, 'FAILED',
        case when r.left_out is not null then jsonb_build_object('code', 'left_out_at_review', 'words', r.left_out)
          when not c.subscribed and ${needsSubscription(type)}::boolean then '{"code": "unsubscribed"}'
          else '{"code": "left_audience"}' end
      from dry_run_rows r join contacts c on c.id = r.contact_id and c.project_id = ${projectId}::uuid
      where r.dry_run_id = ${reviewId} and r.contact_id > ${after ?? leastId}::uuid and r.contact_id <= ${through}::uuid
        and not exists (select from emails e
          where e.campaign_id = ${campaignId}::uuid and e.send_seq = ${sendSeq}::int and e.contact_id = c.id)
      for key share of c`,
    onConflict: sql`on conflict do nothing`,
  });
  const row = await tx.row<{ written: number }>(sql`
    with ${accepting},
    skipped as (
      update campaigns set skipped_count = skipped_count + (select count(*) from accepted)
      where id = ${campaignId}::uuid and send_seq = ${sendSeq}::int and exists (select from accepted))
    select count(*)::int as written from accepted`);
  return row?.written ?? 0;
}
