import { expect } from 'vitest';
import { openSend } from '../../src/campaigns/state.ts';
import { newId } from '../../src/lib/ids.ts';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import type { TestProject } from './api.ts';
import { automationHand } from './automations.ts';
import type { DashboardWorld } from './dashboard.ts';
import { type Seeded, seedDashboard } from './dashboard-seed.ts';
import { queueMail } from './delivery-fixtures.ts';
import { aPerson, joins, type Person } from './people.ts';

/** One thing for each dialog that is only opened for such a thing, by the names of the table of dialogs. */
export interface DialogSeed extends Seeded {
  draft: string;
  scheduled: string;
  pausedCampaign: string;
  unsubscribed: string;
  failedEmail: string;
  staticSegment: string;
  blocks: string;
  waiting: string;
  rolling: string;
  older: string;
  moving: string;
  created: string;
  failing: string;
  failedRun: string;
  call: (method: string, path: string, body?: unknown) => Promise<unknown>;
}

/** Fills a project so that each dialog of the dashboard can be opened. */
export async function seedDialogs(world: DashboardWorld, project: TestProject, owner: Person): Promise<DialogSeed> {
  const { db } = world.database;
  const own = automationHand(world.api, project);
  const { done } = own;
  const asOwner = async (method: string, path: string, body: object) => {
    const answer = await world.api.call(null, method, path, body, { ...owner.session, 'X-Project-Id': project.id });
    expect(answer.status, `${method} ${path}`).toBeLessThan(300);
  };
  const seeded = await seedDashboard({ url: world.url, project, sender: project.sender }, { drafts: [] });
  const workflows = await seedWorkflows(world, project);

  const letter = { subject: 'Herons', body: '<p>Herons</p>', from: project.sender, audienceType: 'ALL' };
  const draft = async (name: string): Promise<string> =>
    (await done('POST', '/campaigns', { ...letter, name })).data.id;
  const [written, scheduled, paused] = [await draft('Herons'), await draft('Storks'), await draft('Terns')];
  const inAWeek = new Date(Date.now() + 604_800_000).toISOString();
  await done('POST', `/campaigns/${scheduled}/send`, { scheduledFor: inAWeek });
  await openSend(db, paused, 2, null);
  await db.count(`update campaign_sends set expanded = true where campaign_id = $1`, [paused]);
  await db.count(`update campaigns set paused_at = now(), total_recipients = 2, sent_count = 1 where id = $1`, [
    paused,
  ]);
  const failed = async (campaign: string, status: 'PENDING' | 'FAILED', contact: string) =>
    db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, subject, campaign_id, send_seq, status, reason)
       select $1, project_id, id, email, $2, 'CAMPAIGN', 'MARKETING', 'Herons', $3, 1, $4, $5 from contacts where id = $6`,
      [newId(), project.sender, campaign, status, status === 'FAILED' ? '{"code": "limit_reached"}' : null, contact],
    );
  await failed(paused, 'PENDING', seeded.contact);
  await db.count(`update campaigns set failed_count = 1 where id = $1`, [seeded.campaign]);

  await db.count(
    `insert into webhook_deliveries (id, endpoint_id, sequence, event_id, event_name, event_at)
     select uuidv7(), $1, 1, id, name, created_at from events where project_id = $2 limit 1`,
    [seeded.endpoint, project.id],
  );
  const unsubscribed = await own.contact('left@example.org', { visits: 3 });
  await done('POST', '/contacts/bulk-unsubscribe', { mode: 'ids', contactIds: [unsubscribed] });
  await eventually(async () => (await done('GET', '/contacts/jobs')).data[0]?.state === 'completed');
  const failedEmail = await queueMail(db, project, unsubscribed, 'left@example.org', {
    unsent: { status: 'FAILED', reason: { code: 'limit_reached' } },
  });
  await done('POST', '/v1/send', { ...letter, audienceType: undefined, to: 'kept@former-members.example' });
  const segment = await done('POST', '/segments', { name: 'Board', type: 'STATIC' });
  await done('POST', `/segments/${segment.id}/members`, { emails: ['left@example.org'] });
  await done('POST', '/contacts/views', { name: 'Everybody' });
  await done('POST', '/blocks', { name: 'Signature', content: [{ type: 'divider' }] });
  const content = [{ type: 'paragraph', content: [{ type: 'text', text: 'Herons at low tide' }] }];
  const document = { version: 1, content };
  const { body: _, ...message } = letter;
  const blocks = await done('POST', '/templates', { ...message, audienceType: undefined, name: 'Herons', document });
  await asOwner('PUT', `/projects/${project.id}/holdout`, { percent: 0.01, until: null });
  await asOwner('POST', `/users/@me/projects/${project.id}/api-keys`, { name: 'Shop', scopes: ['contacts:read'] });
  await joins(db, project.id, await aPerson(db, world.api.config, { name: 'okke' }), 'MEMBER');
  return {
    ...seeded,
    ...workflows,
    draft: written,
    scheduled,
    pausedCampaign: paused,
    unsubscribed,
    failedEmail,
    staticSegment: segment.id,
    blocks: blocks.id,
    call: done,
  };
}

/** Workflows with somebody inside, of an older version, in a rollout, and with a run that failed. */
async function seedWorkflows(world: DashboardWorld, project: TestProject) {
  const own = automationHand(world.api, project);
  const { done } = own;
  const ask = (id: string, email: string) =>
    own.contact(email).then((contactId) => done('POST', `/workflows/${id}/executions`, { contactId }));
  const waiting = async (name: string): Promise<string> => {
    const { id } = await own.automation({ name, eventName: `${name}.begun` });
    await own.step(id, 'DELAY', { amount: 30, unit: 'days' }, { name: 'Wait a month' });
    await own.step(id, 'EXIT', {}, { name: 'Done', position: { x: 100, y: 400 } });
    await own.enable(id);
    await ask(id, `${name.toLowerCase()}@inside.example`);
    await eventually(async () => (await done('GET', `/workflows/${id}/executions?status=WAITING`)).total === 1);
    return id;
  };
  /** Publishes another graph, for all new contacts or for some. */
  const changed = async (id: string, more: object = {}) => {
    const { steps, transitions } = await done('GET', `/workflows/${id}`);
    const later = steps.map((step: { type: string }) =>
      step.type === 'DELAY' ? { ...step, config: { amount: 31, unit: 'days' } } : step,
    );
    await done('PUT', `/workflows/${id}/graph`, { steps: later, transitions, ...more });
    return id;
  };
  const rolling = await changed(await waiting('Rolling'), { rollout: { percent: 50 } });
  const older = await changed(await waiting('Older'));
  const idle = await own.automation({ name: 'Idle' });
  await own.step(idle.id, 'DELAY', { amount: 1, unit: 'days' });
  const created = await done('POST', '/workflows', { name: 'Greeting', triggerType: 'CONTACT_CREATED' });

  // One email is all that may be sent, until the limit is lifted.
  const limits = (workflows: number | null) =>
    done('PUT', `/users/@me/projects/${project.id}/billing-limits`, {
      ...{ campaigns: null, transactional: null, inbound: null },
      workflows,
    });
  const failing = await own.automation({ name: 'Failing' });
  await own.step(failing.id, 'SEND_EMAIL', { templateId: await own.template() }, { name: 'Ask' });
  await own.enable(failing.id);
  const count = async (status: string) =>
    (await done('GET', `/workflows/${failing.id}/executions?status=${status}`)).total;
  await limits(1);
  await ask(failing.id, 'first@limit.example');
  await eventually(async () => (await count('COMPLETED')) === 1);
  const run = await ask(failing.id, 'second@limit.example');
  await eventually(async () => (await count('FAILED')) === 1);
  await limits(null);
  return {
    waiting: await waiting('Waiting'),
    moving: await waiting('Moving'),
    rolling,
    older,
    created: created.id as string,
    failing: failing.id,
    failedRun: run.id as string,
  };
}
