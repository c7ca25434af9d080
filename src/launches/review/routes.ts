import { prepareBy } from '../../campaigns/delivery/content.ts';
import { depsOf, ids, ok, wrapped } from '../../campaigns/record.ts';
import type { Admitted, App } from '../../http/context.ts';
import { hasScope } from '../../http/errors.ts';
import { inProject, route } from '../../http/route.ts';
import { composerOf } from '../../mail/engine/compose.ts';
import type { Database } from '../../store/sql.ts';
import { getDryRun } from './report.ts';
import { DryRunReport, StartDryRun } from './schema.ts';
import { type ReviewDeps, startDryRun } from './service.ts';

/** Returns the parts of the service that reviews work with. */
function reviewDepsOf({ app, db, actor }: { app: App; db: Database; actor: Admitted['actor'] }): ReviewDeps {
  return {
    ...depsOf({ app, db }),
    prepare: prepareBy(composerOf(app)),
    rate: app.config.SEND_RATE_PER_PROJECT,
    showsSamples: hasScope(actor, 'contacts:read'),
  };
}

/** Reviews of campaigns before they are sent (docs/contract/certainty.md#3). */
export const campaignReviewRoutes = [
  route.post('/campaigns/:id/dry-run', {
    heavy: true,
    ...inProject('campaigns:write'),
    summary: 'Review a campaign before it is sent',
    operationId: 'startCampaignDryRun',
    description:
      'Checks every contact of the audience and renders every message as a send would, and sends nothing. Returns 202; the report is ready when its state is `DONE`. A running dry run ends. With `sample`, every contact is checked but only that many messages are rendered, which is faster for a large audience.',
    ids,
    body: StartDryRun,
    example: { sample: 1000 },
    status: 202,
    returns:
      'The dry run, which has just started; poll `GET /campaigns/{id}/dry-runs/{n}` until its `state` is `DONE` or `FAILED`.',
    reply: wrapped('The dry run, which has just started.', DryRunReport),
    handle: async ({ project, params, body, ...input }) =>
      ok(await startDryRun(reviewDepsOf(input), project.id, params.id, body)),
  }),
  route.get('/campaigns/:id/dry-runs/:n', {
    pathTexts: { n: 'Number of the dry run.' },
    ...inProject('campaigns:read'),
    summary: 'Get the report of a dry run',
    operationId: 'getCampaignDryRun',
    description:
      '`n` is its number, or `latest`. `fingerprint` launches exactly what was reviewed; `changed` names what has been changed since. Kept for seven days. `samples` hold data of contacts: a key with scopes needs `contacts:read` to get them.',
    ids,
    returns: 'The report as far as the dry run has come; `fingerprint` is null until it is done.',
    reply: wrapped('The dry run.', DryRunReport),
    handle: async ({ project, params, ...input }) =>
      ok(await getDryRun(reviewDepsOf(input), project.id, params.id, params.n)),
  }),
];
