import { CampaignStatus, openStatuses } from '../lib/enums.ts';
import { badRequest, conflict, notFound } from '../lib/errors.ts';
import { recordChange } from '../projects/audit/record.ts';
import { type Database, sql } from '../store/sql.ts';
import { forgetVersions } from '../templates/versions.ts';
import { Campaign } from './entity.ts';
import type { BulkUpdateCampaigns } from './schema.ts';
import { load } from './service.ts';

/** Deletes a draft. @throws 404, 409 while it is scheduled or sending, 400 once it has been sent or cancelled */
export async function deleteCampaign(db: Database, projectId: string, id: string): Promise<void> {
  const isGone = await db.transaction(async (tx) => {
    if ((await tx.em.nativeDelete(Campaign, { projectId, id, status: CampaignStatus.DRAFT })) === 0) return false;
    await forgetVersions(tx, projectId, [id]);
    await recordChange(tx, projectId, { action: 'campaign.deleted', target: id });
    return true;
  });
  if (isGone) return;
  const { status } = await load(db, projectId, id);
  if (openStatuses.has(status))
    throw conflict(`A campaign that is ${status} cannot be deleted: cancel it first`, { status });
  throw badRequest(`A campaign that is ${status} cannot be deleted: its history must stay`, { status });
}

/**
 * Deletes or archives several campaigns, all or none (docs/contract/campaigns-and-workflows.md#2-5), in the caller's transaction.
 * Only what the default list shows depends on the archive; safe to repeat.
 * @throws 400 for two modes at once or a status that forbids it, 404 naming the first unknown id
 */
export async function bulkUpdateCampaigns(
  tx: Database,
  projectId: string,
  body: BulkUpdateCampaigns,
): Promise<{ deleted: number } | { updated: number }> {
  if (body.delete === true && body.archived !== undefined)
    throw badRequest('Send either "delete" or "archived", not both');
  const ids = [...new Set(body.ids)];
  const found = await tx.rows<{ id: string; status: CampaignStatus }>(sql`
    select id, status from campaigns where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id for no key update`);
  const known = new Set(found.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw notFound('campaign', unknown);
  if (body.delete === true) {
    const kept = found.find(({ status }) => status !== CampaignStatus.DRAFT);
    if (kept !== undefined) throw badRequest(`Campaign ${kept.id} is ${kept.status}: only drafts can be deleted`, kept);
    const deleted = await tx.em.nativeDelete(Campaign, { projectId, id: { $in: ids } });
    await forgetVersions(tx, projectId, ids);
    for (const id of ids) await recordChange(tx, projectId, { action: 'campaign.deleted', target: id });
    return { deleted };
  }
  if (body.archived === undefined) return { updated: 0 };
  const open = body.archived ? found.find(({ status }) => openStatuses.has(status)) : undefined;
  if (open !== undefined)
    throw badRequest(
      `A campaign that is ${open.status} cannot be archived: cancel it first, or wait until it is over`,
      open,
    );
  const updated = await tx.count(sql`
    update campaigns set archived = ${body.archived},
      updated_at = case when archived = ${body.archived} then updated_at else now() end
    where project_id = ${projectId} and id = any(${ids}::uuid[])`);
  return { updated };
}
