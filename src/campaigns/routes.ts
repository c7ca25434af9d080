import * as v from 'valibot';
import { needScope } from '../http/errors.ts';
import { inProject, route, taggedReply } from '../http/route.ts';
import { field, Integer } from '../lib/validation/fields.ts';
import { checkUnplanned } from '../projects/api-key-service.ts';
import { restoreAbout, VersionBody, VersionWithContent, versionsAbout } from '../templates/versions.ts';
import { bulkUpdateCampaigns, deleteCampaign } from './archive.ts';
import { cancelCampaign, pauseCampaign } from './lifecycle/stopping.ts';
import { answer, depsOf, ids, message, ok, withMessage, wrapped } from './record.ts';
import { auditCampaign } from './results/results.ts';
import { CampaignAudit, CampaignStats } from './results/schema.ts';
import {
  BulkUpdateCampaigns,
  CampaignBody,
  CampaignPage,
  CampaignWithSegment,
  CreateCampaign,
  ListCampaigns,
  TestCampaign,
  UpdateCampaign,
} from './schema.ts';
import {
  campaignStats,
  campaignVersion,
  campaignVersions,
  createCampaign,
  duplicateCampaign,
  getCampaign,
  listCampaigns,
  restoreCampaign,
  updateCampaign,
} from './service.ts';
import { sendCampaignTest, sendTemplateTest } from './test-send.ts';

const tagged = (data: CampaignBody) => taggedReply(ok(data), data.revision);

/** Campaigns of a project. */
export const campaignRoutes = [
  route.get('/campaigns', {
    ...inProject('campaigns:read'),
    summary: 'List campaigns',
    query: ListCampaigns,
    returns: 'The page of campaigns, newest first unless `sort` or `dir` says otherwise.',
    reply: CampaignPage,
    handle: (input) => listCampaigns(depsOf(input), input.project.id, input.query),
  }),
  route.post('/campaigns', {
    heavy: true,
    refusals: [404],
    ...inProject('campaigns:write'),
    summary: 'Create a campaign',
    status: 201,
    body: CreateCampaign,
    example: {
      name: 'March news',
      subject: 'News for {{ firstName }}',
      body: '<p>Hello {{ firstName }}.</p>',
      from: 'hello@acme.com',
      audienceType: 'ALL',
    },
    bodyLimit: 'document',
    returns: 'The new campaign, a draft.',
    reply: wrapped('The new campaign.', CampaignBody),
    handle: async (input) => ok(await createCampaign(depsOf(input), input.project.id, input.body)),
  }),
  route.get('/campaigns/:id', {
    ...inProject('campaigns:read'),
    summary: 'Get a campaign',
    ids,
    returns: 'The campaign with its content and the state of its send.',
    reply: wrapped('The campaign.', CampaignWithSegment),
    guarded: true,
    handle: async (input) => tagged(await getCampaign(depsOf(input), input.project.id, input.params.id)),
  }),
  route.put('/campaigns/:id', {
    heavy: true,
    ...inProject('campaigns:write'),
    summary: 'Update a campaign that is not being sent',
    ids,
    body: UpdateCampaign,
    example: { subject: 'March news' },
    bodyLimit: 'document',
    returns: 'The campaign with its changes.',
    reply: wrapped('The updated campaign.', CampaignBody),
    guarded: true,
    handle: async ({ project, params, body, header, ...input }) =>
      tagged(await updateCampaign(depsOf(input), project.id, params.id, body, header('if-match'))),
  }),
  route.delete('/campaigns/:id', {
    ...inProject('campaigns:write'),
    summary: 'Delete a draft',
    ids,
    returns: 'The draft is deleted; `message` says so.',
    reply: message,
    async handle({ db, project, params }) {
      await deleteCampaign(db, project.id, params.id);
      return { success: true, message: 'Campaign deleted' };
    },
  }),
  route.get('/campaigns/:id/versions', {
    ...inProject('campaigns:read'),
    summary: 'List the versions of a campaign',
    description: versionsAbout,
    ids,
    returns: 'The versions of the campaign, newest first; up to 100.',
    reply: wrapped('Versions of the campaign, newest first; up to 100.', v.array(VersionBody)),
    handle: async ({ db, project, params }) => ok(await campaignVersions(db, project.id, params.id)),
  }),
  route.get('/campaigns/:id/versions/:version', {
    pathTexts: { version: 'Number of the version.' },
    ...inProject('campaigns:read'),
    summary: 'Get a version of a campaign',
    ids,
    returns: 'The version with its content.',
    reply: wrapped('The version with its content.', VersionWithContent),
    handle: async ({ project, params, ...input }) =>
      ok(await campaignVersion(depsOf(input), project.id, params.id, params.version)),
  }),
  route.post('/campaigns/:id/versions/:version/restore', {
    pathTexts: { version: 'Number of the version.' },
    ...inProject('campaigns:write'),
    summary: 'Restore a version of a campaign that is not being sent',
    description: `${restoreAbout} The audience stays as it is.`,
    ids,
    returns: 'The campaign with the restored content.',
    reply: wrapped('The campaign with the restored content.', CampaignBody),
    guarded: true,
    handle: async ({ project, params, header, ...input }) =>
      tagged(await restoreCampaign(depsOf(input), project.id, params, header('if-match'))),
  }),
  route.post('/campaigns/:id/duplicate', {
    heavy: true,
    ...inProject('campaigns:write'),
    summary: 'Duplicate a campaign as a draft',
    ids,
    status: 201,
    returns: 'The new draft, a copy of the campaign.',
    reply: withMessage('The new draft.', CampaignBody),
    handle: async (input) => ({
      ...ok(await duplicateCampaign(depsOf(input), input.project.id, input.params.id)),
      message: 'Campaign duplicated',
    }),
  }),
  route.post('/campaigns/:id/cancel', {
    ...inProject('campaigns:send'),
    summary: 'Cancel a campaign that is scheduled or being sent',
    description: 'Stops sending to the remaining recipients. Returns to draft if nothing was sent.',
    ids,
    returns: 'The campaign; with `revertPending`, it becomes a draft again as soon as its unsent messages are removed.',
    reply: v.object({
      ...wrapped('The canceled campaign.', CampaignBody).entries,
      revertPending: field(
        '`true` when nothing had been sent yet: the campaign becomes a draft again instead of `CANCELLED`.',
        v.boolean(),
      ),
      message: field('What was done, as a sentence for people.', v.string()),
    }),
    handle: async (input) => answer(await cancelCampaign(depsOf(input), input.project.id, input.params.id)),
  }),
  route.post('/campaigns/:id/pause', {
    ...inProject('campaigns:send'),
    summary: 'Pause a campaign that is being sent',
    description: 'Nothing more is sent until it is resumed. Safe to repeat.',
    ids,
    returns: 'The paused campaign; `pausedAt` says since when.',
    reply: withMessage('The paused campaign.', CampaignWithSegment),
    handle: async (input) => answer(await pauseCampaign(depsOf(input), input.project.id, input.params.id, true)),
  }),
  route.post('/campaigns/:id/resume', {
    ...inProject('campaigns:send'),
    summary: 'Resume a paused campaign',
    ids,
    returns: 'The campaign, which is being sent again.',
    reply: withMessage('The resumed campaign.', CampaignWithSegment),
    async handle(input) {
      checkUnplanned(input.actor.kind === 'key' ? input.actor.scoped : null, Infinity);
      return answer(await pauseCampaign(depsOf(input), input.project.id, input.params.id, false));
    },
  }),
  ...(
    [
      { kind: 'campaigns', scope: 'campaigns:send', ids, send: sendCampaignTest },
      { kind: 'templates', scope: 'templates', ids: { id: 'template' }, send: sendTemplateTest },
    ] as const
  ).map(({ kind, scope, ids: each, send }) =>
    route.post(`/${kind}/:id/test`, {
      scope,
      access: 'dashboard',
      summary: `Send a test of a ${kind.slice(0, -1)} to a member or a test address`,
      description:
        'Sent at once, without entries in ledger, events or counters. By default without footer, and filled in only if the address is a contact; see `asSent`.',
      ids: each,
      body: TestCampaign,
      example: { email: 'grace@acme.com' },
      returns: 'The test is sent; `message` says to whom.',
      reply: message,
      async handle(input) {
        const { app, db, project, params, body, actor } = input;
        // The message shows the data of the contact.
        if (body.previewContactId != null) needScope(actor, 'contacts:read');
        const key = actor.kind === 'key' ? actor.scoped : null;
        checkUnplanned(key, 1);
        const { mailer, config, directory } = app;
        const deps = { db, mailer, config, billing: config, senderDomains: directory.senderDomains, key };
        await send(deps, project, params.id, body);
        return { success: true, message: `Test sent to ${body.email}` };
      },
    }),
  ),
  ...(['archive', 'unarchive'] as const).map((action) =>
    route.post(`/campaigns/:id/${action}`, {
      ...inProject('campaigns:write'),
      summary: action === 'archive' ? 'Archive a campaign' : 'Unarchive a campaign',
      ids,
      returns:
        action === 'archive'
          ? 'The archived campaign, which lists leave out.'
          : 'The campaign, which lists show again.',
      reply: wrapped('The archived or unarchived campaign.', CampaignWithSegment),
      async handle(input) {
        const { db, project, params } = input;
        const change = { ids: [params.id], archived: action === 'archive' };
        await db.transaction((tx) => bulkUpdateCampaigns(tx, project.id, change));
        return ok(await getCampaign(depsOf(input), project.id, params.id));
      },
    }),
  ),
  route.post('/campaigns/bulk-update', {
    ...inProject('campaigns:write'),
    summary: 'Delete or archive several campaigns, all or none',
    operationId: 'updateCampaigns',
    body: BulkUpdateCampaigns,
    example: { ids: ['9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d'], archived: true },
    bodyLimit: 'data',
    returns: 'The number of campaigns `deleted`, or `updated` for a request with `archived`.',
    reply: v.union([
      v.strictObject({ deleted: field('Number of drafts deleted, for a request with `delete`.', Integer) }),
      v.strictObject({
        updated: field('Number of campaigns archived or unarchived, for a request with `archived`.', Integer),
      }),
    ]),
    handle: ({ db, project, body }) => db.transaction((tx) => bulkUpdateCampaigns(tx, project.id, body)),
  }),
  route.get('/campaigns/:id/stats', {
    ...inProject('campaigns:read'),
    summary: 'Get the counts and rates of a campaign',
    ids,
    returns: 'The counts and rates so far, and the versions of the content that were sent.',
    reply: wrapped('Counts and rates of the campaign.', CampaignStats),
    handle: async (input) => ok(await campaignStats(depsOf(input), input.project.id, input.params.id)),
  }),
  route.get('/campaigns/:id/audit', {
    heavy: true,
    ...inProject('campaigns:read'),
    summary: 'Audit the ledger of a campaign',
    description:
      'Counts the rows of the current send by verdict, says whether they add up, and returns the hash of the ledger.',
    ids,
    returns: 'The number of recipients by verdict, whether they add up, and the `hash` of the ledger.',
    reply: wrapped('The ledger of the current send, counted by verdict.', CampaignAudit),
    handle: async ({ db, project, params }) => ok(await auditCampaign(db, project.id, params.id)),
  }),
];
