import type { Database } from '../../src/store/sql.ts';

/** Sets the counts of a project's mail to what its ledger says; for tests that write the ledger by themselves. */
export async function countMail(db: Database, projectId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.count('delete from mail_counts where project_id = $1', [projectId]);
    await tx.count('delete from mail_count_changes where project_id = $1', [projectId]);
    await tx.count(
      `insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced,
         rated_complained)
       select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'), count(*) filter (where is_out),
         count(*) filter (where source_type = 'INBOUND'), count(delivered_at) filter (where is_out),
         count(opened_at) filter (where is_out), count(clicked_at) filter (where is_out), count(bounced_at) filter (where is_out),
         count(*) filter (where is_rated), count(bounced_at) filter (where is_rated), count(complained_at) filter (where is_rated)
       from emails,
         lateral (select source_type <> 'INBOUND' and status not in ('SUPPRESSED', 'CANCELLED') as is_out) outgoing,
         lateral (select is_out and status <> 'FAILED' and not simulated as is_rated) rated
       where project_id = $1 group by 1, 2`,
      [projectId],
    );
  });
}
