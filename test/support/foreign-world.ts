import { newId } from '../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject } from './api.ts';
import { anAutomation, letIn } from './automation-fixtures.ts';
import type { TestDatabase } from './database.ts';
import { aContact } from './delivery-fixtures.ts';

/** A project of somebody else with one of everything that a path can name. */
export interface ForeignWorld {
  project: TestProject;
  contactEmail: string;
  /** What stands for a parameter of a path there. @throws for one that nobody has thought of */
  idFor(path: string, parameter: string): string;
}

/** Fills a project with one of everything. */
export async function foreignWorld(api: TestApi, { db, ...store }: TestDatabase): Promise<ForeignWorld> {
  const project = await aProject({ db, ...store }, 'Foreign');
  const make = async (path: string, body: object): Promise<string> => {
    const answer = await api.call(project.secretKey, 'POST', path, body);
    if (answer.status > 299) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data?.id ?? answer.body.id;
  };
  const contactEmail = 'foreign.person@example.org';
  const contact = await aContact(db, project.id, contactEmail);
  const template = await make('/templates', {
    name: 'Theirs',
    subject: 'Theirs',
    body: '<p>Theirs</p>',
    from: project.sender,
    type: 'TRANSACTIONAL',
  });
  const campaign = await make('/campaigns', {
    name: 'Theirs',
    subject: 'Theirs',
    body: '<p>Theirs</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  const block = await make('/blocks', { name: 'Theirs', content: [{ type: 'divider' }] });
  const segment = await make('/segments', { name: 'Theirs', type: 'STATIC' });
  const view = await make('/contacts/views', { name: 'Theirs' });
  const rule = await make('/suppressions', { name: 'Theirs', kind: 'DOMAIN', pattern: 'nowhere.example' });
  const domain = await db.row<{ id: string }>('select id from domains where project_id = $1', [project.id]);
  const jobs: Record<string, string> = {};
  for (const kind of ['import', 'bulk'] as const) {
    jobs[kind] = kind === 'import' ? `import-${newId()}` : `bulk-subscribe-${newId()}`;
    await db.count(
      `insert into jobs (id, project_id, kind, spec, state, finished_at) values ($1, $2, $3, $4, 'completed', now())`,
      [
        jobs[kind],
        project.id,
        kind,
        JSON.stringify(
          kind === 'import'
            ? { projectId: project.id, filename: 'a.csv' }
            : { projectId: project.id, operation: 'subscribe', selector: { mode: 'ids', contactIds: [] } },
        ),
      ],
    );
  }
  const email = newId();
  await db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", subject, body, source_type, message_class, status,
       suppression)
     values ($1, $2, $3, $4, $5, 'Theirs', '<p>Theirs</p>', 'TRANSACTIONAL', 'TRANSACTIONAL', 'SUPPRESSED', $6)`,
    [
      email,
      project.id,
      contact,
      contactEmail,
      project.sender,
      JSON.stringify({
        ruleId: rule,
        name: 'Theirs',
        kind: 'DOMAIN',
        pattern: 'nowhere.example',
        recipient: contactEmail,
        matchedAt: '2026-01-01T00:00:00.000Z',
      }),
    ],
  );
  const automation = await anAutomation(db, project.id, { steps: { pause: ['DELAY', { amount: 1, unit: 'days' }] } });
  const [run] = await letIn(db, automation, [contact]);
  const simulation = `simulation-${newId()}`;
  await db.count(
    `insert into jobs (id, project_id, kind, spec, state, finished_at) values ($1, $2, 'simulation', $3, 'failed', now())`,
    [simulation, project.id, JSON.stringify({ workflowId: automation.id, names: {}, at: null })],
  );
  const transition = await db.row<{ id: string }>('select id from automation_transitions where automation_id = $1', [
    automation.id,
  ]);
  const move = newId();
  await db.count(
    `insert into automation_migrations (id, project_id, automation_id, to_version_id, rules, state, expected, completed_at)
     select $1, $2, $3, version_id, '[]', 'completed', 1, now() from automation_runs where id = $4`,
    [move, project.id, automation.id, run?.id],
  );
  await db.count(
    `insert into automation_rollouts (id, automation_id, version_id, before_version_id, share, stop_if, days, state, ended_at)
     select $1, $2, version_id, version_id, 1000, '{"failureRate": null, "unsubscribeRate": null}', 7, 'FINISHED', now()
     from automation_runs where id = $3`,
    [newId(), automation.id, run?.id],
  );

  const image = newId();
  await db.count(
    `insert into uploads (id, project_id, key, filename, content_type, size) values ($1, $2, $3, 'theirs.png', 'image/png', 1)`,
    [image, project.id, `${project.id}/1772359331000-9f86d081884c7d65.png`],
  );

  const endpoint = await make('/webhook-endpoints', { url: 'https://example.com/', events: ['*'] });
  const leaver = await make('/contacts', { email: 'leaver@theirs.example' });
  const erasure = await make(`/contacts/${leaver}/erase`, {});
  const event = newId();
  await db.count(
    `insert into webhook_deliveries (id, endpoint_id, sequence, event_id, event_name, event_at)
     values ($1, $2, 1, $3, 'theirs', now())`,
    [newId(), endpoint, event],
  );

  await db.count(
    `insert into dry_runs (id, project_id, campaign_id, n, state, facts, expected, expires_at)
     values ($1, $2, $3, 1, 'DONE', '{}', 0, now() + interval '1 day')`,
    [newId(), project.id, campaign],
  );

  const bySubject: Record<string, string | undefined> = {
    contacts: contact,
    templates: template,
    campaigns: campaign,
    segments: segment,
    blocks: block,
    domains: domain?.id,
    suppressions: rule,
    workflows: automation.id,
    uploads: image,
    'webhook-endpoints': endpoint,
    erasures: erasure,
  };
  return {
    project,
    contactEmail,
    idFor(path, parameter) {
      if (/\/emails\/:id(\/|$)/.test(path)) return email;
      const known: Record<string, string | undefined> = {
        contactId: contact,
        jobId: path.includes('/simulations/') ? simulation : path.includes('/import/') ? jobs.import : jobs.bulk,
        projectId: project.id,
        stepId: automation.steps.pause,
        transitionId: transition?.id,
        executionId: run?.id,
        migrationId: move,
        version: '1',
        emailId: email,
        field: 'email',
        eventName: 'theirs',
        eventId: event,
        planId: newId(),
        viewId: view,
        n: '1',
      };
      const id = parameter === 'id' ? bySubject[path.split('/')[1] ?? ''] : known[parameter];
      if (id === undefined) throw new Error(`Say in test/support/foreign-world.ts what :${parameter} of ${path} is`);
      return id;
    },
  };
}

/** Bodies that would be accepted, so that it is the id that decides. */
export const foreignBodies: Record<string, object> = {
  'PATCH /contacts/:id': { subscribed: false },
  'PATCH /contacts/views/:viewId': { name: 'Mine now' },
  'PATCH /emails/:id': { scheduledFor: new Date().toISOString() },
  'PATCH /v1/emails/:id': { scheduledFor: new Date().toISOString() },
  'PATCH /templates/:id': { name: 'Mine now' },
  'PATCH /blocks/:id': { name: 'Mine now' },
  'PUT /campaigns/:id': { name: 'Mine now' },
  'POST /campaigns/:id/approve': { fingerprint: '0'.repeat(64) },
  'POST /campaigns/:id/revise': { subject: 'Mine now' },
  'POST /campaigns/:id/correction': { versions: [1], who: 'got', subject: 'Mine now', body: '<p>Mine.</p>' },
  'POST /campaigns/:id/correction/audience': { versions: [1], who: 'got' },
  'POST /campaigns/:id/follow-up': { who: 'got' },
  'POST /campaigns/:id/follow-up/audience': { who: 'got' },
  'POST /workflows/:id/test-run': { contactId: '5b1c0a3e-8f8e-4a4e-9b0e-2f9f9d0c7a11' },
  'POST /campaigns/:id/test': { email: 'me@example.org' },
  'POST /templates/:id/test': { email: 'me@example.org' },
  'PATCH /segments/:id': { name: 'Mine now' },
  'POST /segments/:id/members': { emails: ['foreign.person@example.org'] },
  'DELETE /segments/:id/members': { emails: ['foreign.person@example.org'] },
  'PUT /suppressions/:id': { name: 'Mine now', kind: 'DOMAIN', pattern: 'mine.example' },
  'POST /webhook-endpoints/:id/replay': { since: new Date().toISOString() },
  'PATCH /webhook-endpoints/:id': { description: 'Mine now' },
  'PATCH /workflows/:id': { name: 'Mine now' },
  'POST /workflows/:id/steps': {
    type: 'DELAY',
    name: 'Mine',
    position: { x: 0, y: 0 },
    config: { amount: 1, unit: 'days' },
  },
  'PATCH /workflows/:id/steps/:stepId': { name: 'Mine now' },
  'PUT /workflows/:id/graph': { steps: [], transitions: [] },
  'PATCH /workflows/:id/rollout': { percent: 50 },
  'POST /workflows/:id/transitions': { fromStepId: newId(), toStepId: newId() },
  'POST /workflows/:id/transitions/:transitionId/insert-step': {
    type: 'DELAY',
    name: 'Mine',
    config: { amount: 1, unit: 'days' },
  },
  'POST /workflows/:id/executions': { contactId: newId() },
  'POST /workflows/:id/simulations': {
    over: { event: { from: '2026-01-01T00:00:00Z', until: '2026-02-01T00:00:00Z' } },
  },
  'POST /workflows/:id/enroll': { event: { name: 'signed_up', since: new Date(0).toISOString() }, dryRun: true },
};
