import * as v from 'valibot';
import { contactTotals } from '../../audience/contacts/index.ts';
import { isoText } from '../../core/database/columns.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';

/** How far a project is set up (contract page 3, 2.3). */
export const SetupState = v.object({
  hasSubscription: v.boolean(),
  hasVerifiedDomain: v.boolean(),
  contactCount: v.number(),
  lastCampaignSentAt: v.nullable(v.pipe(v.string(), v.isoTimestamp())),
  hasEnabledWorkflow: v.boolean(),
});
export type SetupState = v.InferOutput<typeof SetupState>;

/** How far a project is set up, or null when it is gone. */
export async function setupState(db: Database, projectId: string): Promise<SetupState | null> {
  const [row, { contacts }] = await Promise.all([
    db.row<Omit<SetupState, 'contactCount'>>(sql`
      select p.subscription is not null as "hasSubscription",
        exists (select from domains d where d.project_id = p.id and d.verified) as "hasVerifiedDomain",
        (select ${raw(isoText('c.sent_at'))} from campaigns c
         where c.project_id = p.id and c.status = 'SENT' and c.sent_at is not null
         order by c.sent_at desc limit 1) as "lastCampaignSentAt",
        exists (select from automations a where a.project_id = p.id and a.enabled) as "hasEnabledWorkflow"
      from projects p where p.id = ${projectId}`),
    contactTotals(db, projectId),
  ]);
  return row && { ...row, contactCount: contacts };
}
