import * as v from 'valibot';
import { contactTotals } from '../../contacts/catalogue-queries.ts';
import { noSuchProject } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import type { Config } from '../../lib/config/config.ts';
import { field, Instant, Integer } from '../../lib/validation/fields.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';

/** How far a project is set up (docs/contract/platform.md#2-3). */
const SetupState = v.object({
  hasSubscription: field('Whether the project has a paid subscription.', v.boolean()),
  hasVerifiedDomain: field('Whether the project has a verified and approved sender domain.', v.boolean()),
  contactCount: field('Number of contacts in the project.', Integer),
  lastCampaignSentAt: field('When the last campaign was sent; null if none was.', v.nullable(Instant)),
  hasEnabledWorkflow: field('Whether a workflow is enabled.', v.boolean()),
  publicKeyMode: field(
    'How the public key is limited. `hardened` is recommended as soon as browsers or apps use the key.',
    v.picklist(['contract', 'hardened']),
  ),
  links: field(
    'Other pages of this deployment; null where they cannot be opened from elsewhere.',
    v.object({
      inbox: field('URL of the mail sandbox; null with any other mail provider.', v.nullable(v.string())),
      temporal: field(
        'URL of the executions in Temporal’s Web UI; null where it cannot be opened from elsewhere.',
        v.nullable(v.string()),
      ),
    }),
  ),
});
type SetupState = v.InferOutput<typeof SetupState>;

type Places = Pick<Config, 'API_URI' | 'mailProvider' | 'SANDBOX_INBOX_URL' | 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>;

/** Pages of this deployment that the dashboard links to. An address of the machine itself is of use only to who calls the API there too. */
export function linksOf(places: Places): SetupState['links'] {
  const isHere = isLocal(places.API_URI);
  const opened = (url: string) => (isHere || !isLocal(url) ? url.replace(/\/$/, '') : null);
  const temporal = opened(places.TEMPORAL_UI_URL);
  return {
    inbox: places.mailProvider === 'sandbox' ? opened(places.SANDBOX_INBOX_URL) : null,
    temporal: temporal && `${temporal}/namespaces/${encodeURIComponent(places.TEMPORAL_NAMESPACE)}/workflows`,
  };
}

function isLocal(url: string): boolean {
  return /^(localhost|127\.|\[::1\]|.*\.localhost$)/.test(new URL(url).hostname);
}

/** How far a project is set up, or null when it is gone. */
async function setupState(db: Database, projectId: string, places: Places): Promise<SetupState | null> {
  const [row, { contacts }] = await Promise.all([
    db.row<Omit<SetupState, 'contactCount' | 'links'>>(sql`
      select p.subscription is not null as "hasSubscription",
        exists (select from domains d where d.project_id = p.id and d.verified and d.approved) as "hasVerifiedDomain",
        (select ${raw(isoText('c.sent_at'))} from campaigns c
         where c.project_id = p.id and c.status = 'SENT' and c.sent_at is not null
         order by c.sent_at desc limit 1) as "lastCampaignSentAt",
        exists (select from automations a where a.project_id = p.id and a.enabled) as "hasEnabledWorkflow",
        p.public_key_mode as "publicKeyMode"
      from projects p where p.id = ${projectId}`),
    contactTotals(db, projectId),
  ]);
  return row && { ...row, contactCount: contacts, links: linksOf(places) };
}

/** Routes of the set-up checklist. */
export const setupRoutes = [
  route.get('/projects/:id/setup-state', {
    access: 'project',
    summary: 'Get the set-up state of a project',
    returns: 'Which steps of the setup are done, and the `links` to other pages of this deployment.',
    reply: v.object({
      success: field('Always `true`. A failed request returns an `Error` instead.', v.literal(true)),
      data: field('What is set up.', SetupState),
    }),
    async handle({ app, db, project }) {
      const data = await setupState(db, project.id, app.config);
      if (data === null) throw noSuchProject(project.id);
      return { success: true, data };
    },
  }),
];
