import * as v from 'valibot';
import type { App } from '../http/context.ts';
import { route } from '../http/route.ts';
import { auditCampaign } from './audit.ts';
import {
  CampaignAudit,
  CampaignBody,
  CampaignPage,
  CampaignStats,
  CampaignWithSegment,
  CreateCampaign,
  ListCampaigns,
  SendCampaign,
  UpdateCampaign,
  wrapped,
} from './schema.ts';
import { cancelCampaign, sendCampaign } from './sending.ts';
import {
  campaignStats,
  createCampaign,
  deleteCampaign,
  duplicateCampaign,
  getCampaign,
  listCampaigns,
  updateCampaign,
} from './service.ts';

// A malformed id of a campaign is a 422 (contract page 2, section 0), not the 404 that other resources answer.
const ids = { id: '422' };
const ok = <Data>(data: Data) => ({ success: true, data });
const sendingDeps = (app: App, em: Parameters<typeof listCampaigns>[0]) => ({
  em,
  db: app.db,
  outbox: app.outbox,
  senderDomains: app.directory.senderDomains,
  clock: app.clock,
});

/** Campaigns of a project. */
export const campaignRoutes = [
  route({
    method: 'GET',
    path: '/campaigns',
    access: 'dashboard',
    summary: 'List campaigns',
    query: ListCampaigns,
    reply: CampaignPage,
    handle: ({ em, project, query }) => listCampaigns(em, project.id, query),
  }),
  route({
    method: 'POST',
    path: '/campaigns',
    access: 'dashboard',
    summary: 'Create a campaign',
    status: 201,
    body: CreateCampaign,
    reply: wrapped(CampaignBody),
    handle: async ({ app, em, project, body }) =>
      ok(await createCampaign(em, app.directory.senderDomains, project.id, body)),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id',
    access: 'dashboard',
    summary: 'Get a campaign',
    ids,
    reply: wrapped(CampaignWithSegment),
    handle: async ({ em, project, params }) => ok(await getCampaign(em, project.id, params.id ?? '')),
  }),
  route({
    method: 'PUT',
    path: '/campaigns/:id',
    access: 'dashboard',
    summary: 'Change a campaign that is not under way',
    ids,
    body: UpdateCampaign,
    reply: wrapped(CampaignBody),
    handle: async ({ app, em, project, params, body }) =>
      ok(await updateCampaign(em, app.directory.senderDomains, project.id, params.id ?? '', body)),
  }),
  route({
    method: 'DELETE',
    path: '/campaigns/:id',
    access: 'dashboard',
    summary: 'Delete a draft',
    ids,
    reply: v.object({ success: v.literal(true), message: v.string() }),
    async handle({ em, project, params }) {
      await deleteCampaign(em, project.id, params.id ?? '');
      return { success: true, message: 'Campaign deleted' };
    },
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/duplicate',
    access: 'dashboard',
    summary: 'Copy a campaign into a draft',
    ids,
    status: 201,
    reply: v.object({ ...wrapped(CampaignBody).entries, message: v.string() }),
    handle: async ({ em, project, params }) => ({
      ...ok(await duplicateCampaign(em, project.id, params.id ?? '')),
      message: 'Campaign duplicated',
    }),
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/send',
    access: 'dashboard',
    summary: 'Send a campaign now',
    description: 'Answers before any mail leaves; the stats tell how far it is.',
    ids,
    body: SendCampaign,
    reply: v.object({ ...wrapped(CampaignWithSegment).entries, message: v.string() }),
    async handle({ app, em, project, params, body }) {
      const { campaign, message } = await sendCampaign(sendingDeps(app, em), project, params.id ?? '', body);
      return { ...ok(campaign), message };
    },
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/cancel',
    access: 'dashboard',
    summary: 'Cancel a campaign that is scheduled or under way',
    description: 'Recipients that have not been handed over are not sent to. Back to draft when none was.',
    ids,
    reply: v.object({ ...wrapped(CampaignBody).entries, revertPending: v.boolean(), message: v.string() }),
    async handle({ app, em, project, params }) {
      const { campaign, revertPending, message } = await cancelCampaign(
        sendingDeps(app, em),
        project.id,
        params.id ?? '',
      );
      return { ...ok(campaign), revertPending, message };
    },
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/stats',
    access: 'dashboard',
    summary: 'Counts and rates of a campaign',
    ids,
    reply: wrapped(CampaignStats),
    handle: async ({ em, project, params }) => ok(await campaignStats(em, project.id, params.id ?? '')),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/audit',
    access: 'dashboard',
    summary: 'Add up the ledger of a campaign',
    description: 'Counts the rows of the current send by what became of them, and says whether they add up.',
    ids,
    reply: wrapped(CampaignAudit),
    handle: async ({ db, project, params }) => ok(await auditCampaign(db, project.id, params.id ?? '')),
  }),
];
