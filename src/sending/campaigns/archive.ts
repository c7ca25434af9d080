import { type Sql, statement } from '../../core/database/sql.ts';
import { badRequest, conflict, notFound } from '../../core/lib/errors.ts';
import type { BulkUpdateCampaigns, CampaignStatus } from './schema.ts';
import { campaignState } from './state.ts';

const remove = statement(
  'campaigns.delete_draft',
  `delete from campaigns where project_id = $1 and id = $2 and status = 'DRAFT'`,
);

/** Deletes a draft. @throws 404, 409 while it is scheduled or sending, 400 once it has been sent or cancelled */
export async function deleteCampaign(sql: Sql, projectId: string, id: string): Promise<void> {
  if ((await sql.count(remove, [projectId, id])) > 0) return;
  const state = await campaignState(sql, projectId, id);
  if (state === null) throw notFound('campaign', id);
  const { status } = state;
  if (isOpen(status)) throw conflict(`A campaign that is ${status} cannot be deleted: cancel it first`, { status });
  throw badRequest(`A campaign that is ${status} cannot be deleted: its history must stay`, { status });
}

const shelve = statement(
  'campaigns.archive',
  `update campaigns set archived = $3, updated_at = case when archived = $3 then updated_at else now() end
   where project_id = $1 and id = $2 and (not $3 or status not in ('SCHEDULED', 'SENDING'))`,
);

/**
 * Puts a campaign into the archive or takes it out; only what the default list shows depends on it. Safe to repeat.
 * @throws 404, 400 for archiving one that is scheduled or sending
 */
export async function archiveCampaign(sql: Sql, projectId: string, id: string, archived: boolean): Promise<void> {
  if ((await sql.count(shelve, [projectId, id, archived])) > 0) return;
  const state = await campaignState(sql, projectId, id);
  if (state === null) throw notFound('campaign', id);
  throw notArchivable(id, state.status);
}

const lockSome = statement(
  'campaigns.lock_some',
  `select id, status from campaigns where project_id = $1 and id = any($2::uuid[]) order by id for no key update`,
);

/**
 * Deletes or archives several campaigns, all or none (contract page 2, 2.5); `sql` is a transaction.
 * @throws 400 for two modes at once or a status that forbids it, 404 naming the first unknown id
 */
export async function bulkUpdateCampaigns(
  sql: Sql,
  projectId: string,
  body: BulkUpdateCampaigns,
): Promise<{ deleted: number } | { updated: number }> {
  if (body.delete === true && body.archived !== undefined)
    throw badRequest('Send either "delete" or "archived", not both');
  const ids = [...new Set(body.ids)];
  const found = await sql.rows<{ id: string; status: CampaignStatus }>(lockSome, [projectId, ids]);
  const statuses = new Map(found.map(({ id, status }) => [id, status]));
  const unknown = ids.find((id) => !statuses.has(id));
  if (unknown !== undefined) throw notFound('campaign', unknown);
  if (body.delete === true) {
    const kept = found.find(({ status }) => status !== 'DRAFT');
    if (kept)
      throw badRequest(`Campaign ${kept.id} is ${kept.status}: only drafts can be deleted`, {
        id: kept.id,
        status: kept.status,
      });
    const deleted = await sql.count('delete from campaigns where project_id = $1 and id = any($2::uuid[])', [
      projectId,
      ids,
    ]);
    return { deleted };
  }
  if (body.archived === undefined) return { updated: 0 };
  const open = body.archived ? found.find(({ status }) => isOpen(status)) : undefined;
  if (open) throw notArchivable(open.id, open.status);
  const updated = await sql.count(
    `update campaigns set archived = $3, updated_at = case when archived = $3 then updated_at else now() end
     where project_id = $1 and id = any($2::uuid[])`,
    [projectId, ids, body.archived],
  );
  return { updated };
}

function isOpen(status: CampaignStatus): boolean {
  return status === 'SCHEDULED' || status === 'SENDING';
}

function notArchivable(id: string, status: CampaignStatus) {
  return badRequest(`A campaign that is ${status} cannot be archived: cancel it first, or wait until it is over`, {
    id,
    status,
  });
}
