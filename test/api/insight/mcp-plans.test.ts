import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { anAutomation, aTemplate } from '../../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact } from '../../support/delivery-fixtures.ts';
import { mcpClient, useTool } from '../../support/mcp-client.ts';
import { aPerson, joins, type Person } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let admin: Person;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  admin = await aPerson(database.db, api.config, { name: 'ines.varga' });
  await joins(database.db, project.id, admin, 'ADMIN');
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const scopes = ['emails:send', 'emails:read', 'contacts:read', 'templates', 'campaigns:read', 'campaigns:send'].concat(
  'workflows:read',
  'workflows:write',
);

async function aClient(mcp: object = { mode: 'act', needsHuman: 'always' }): Promise<Client> {
  const path = `/users/@me/projects/${project.id}/api-keys`;
  const made = await api.call(null, 'POST', path, { name: 'Model', scopes, mcp }, admin.session);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return mcpClient(api.url, made.body.key);
}

/** Makes a plan and lets a person approve it. */
async function approved(client: Client, tool: string, input: object): Promise<string> {
  const plan = await useTool(client, tool, input);
  expect(plan, JSON.stringify(plan)).toMatchObject({ needsApproval: true });
  const path = `/projects/${project.id}/mcp-plans/${plan.planId}/approve`;
  expect((await api.call(null, 'POST', path, undefined, admin.session)).status).toBe(204);
  return plan.planId;
}

/** A change of one column, or of something that is made of rows. */
interface Change {
  of: string;
  /** What takes it back. */
  change(): Promise<() => Promise<unknown>>;
}

function column(table: string, id: string, name: string, value: unknown): Change {
  const quoted = `"${name}"`;
  return {
    of: `${table}.${name}`,
    async change() {
      const before = await database.db.row<{ row: object }>(`select to_jsonb(t) as row from ${table} t where id = $1`, [
        id,
      ]);
      const json = JSON.stringify({ [name]: value });
      const write = (row: string) =>
        database.db.count(
          `update ${table} set ${quoted} = (select r.${quoted} from jsonb_populate_record(null::${table}, $2) r) where id = $1`,
          [id, row],
        );
      expect(await write(json)).toBe(1);
      const after = await database.db.row<{ row: object }>(`select to_jsonb(t) as row from ${table} t where id = $1`, [
        id,
      ]);
      expect(after, `${table}.${name} has changed`).not.toEqual(before);
      return () => write(JSON.stringify(before?.row));
    },
  };
}

const columnsOf = async (table: string) =>
  (
    await database.db.rows<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
      [table],
    )
  ).map(({ name }) => name);

const mails = async () =>
  database.db.row<{ count: number }>('select count(*)::int as count from emails where project_id = $1', [project.id]);

/** Each change alone, after the approval, is refused; without one the plan is carried out. */
async function holds(tool: string, input: object, changes: readonly Change[], isUntouched: () => Promise<void>) {
  const client = await aClient();
  for (const { of, change } of changes) {
    const planId = await approved(client, tool, input);
    const before = await mails();
    const takeBack = await change();
    const refused = await useTool(client, 'commit', { planId });
    expect([of, refused.failed?.code], JSON.stringify(refused)).toEqual([of, 'PLAN_STALE']);
    expect(await mails(), of).toEqual(before);
    await isUntouched();
    await takeBack();
  }
  const planId = await approved(client, tool, input);
  expect(await useTool(client, 'commit', { planId })).toMatchObject({ alreadyDone: false });
}

const contains = (text: string) => ({
  logic: 'AND',
  groups: [{ filters: [{ field: 'email', operator: 'contains', value: text }] }],
});

async function aSegment(condition: object | null, members: string[] = []): Promise<string> {
  const id = newId();
  await database.db.count(`insert into segments (id, project_id, name, type, condition) values ($1, $2, $3, $4, $5)`, [
    id,
    project.id,
    `Segment ${id}`,
    condition ? 'DYNAMIC' : 'STATIC',
    condition && JSON.stringify(condition),
  ]);
  for (const contact of members)
    await database.db.count(
      'insert into segment_memberships (segment_id, contact_id, entered_at) values ($1, $2, now())',
      [id, contact],
    );
  return id;
}

const ofProject = () => [
  column('projects', project.id, 'name', 'Another name'),
  column('projects', project.id, 'tracking', 'DISABLED'),
  column('projects', project.id, 'language', 'de'),
  column('projects', project.id, 'escape_contact_data', false),
];

const ofTemplate = (id: string) => [
  column('templates', id, 'subject', 'Another subject'),
  column('templates', id, 'body', '<p>Another body</p>'),
  column('templates', id, 'document', { version: 1, blocks: [] }),
  column('templates', id, 'from', `other@${project.domain}`),
  column('templates', id, 'from_name', 'Somebody else'),
  column('templates', id, 'reply_to', 'somebody@else.example'),
  column('templates', id, 'type', 'HEADLESS'),
  column('templates', id, 'revision', 77),
];

describe('what was approved is what is carried out: after each change of', () => {
  test('a campaign, its segments, its audience and its project', async () => {
    const inner = await aSegment(contains('@first.example'));
    const outer = await aSegment({
      logic: 'AND',
      groups: [{ filters: [{ field: `segment.${inner}`, operator: 'memberOfSegment' }] }],
    });
    for (const n of [1, 2]) await aContact(database.db, project.id, `${n}@first.example`);
    const outsider = await aContact(database.db, project.id, '3@second.example');
    const made = await api.call(project.secretKey, 'POST', '/campaigns', {
      ...{ name: 'Spring', subject: 'News', body: '<p>News</p>', from: project.sender },
      ...{ audienceType: 'SEGMENT', segmentId: outer },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const id = made.body.data.id;
    const changes = [
      column('campaigns', id, 'name', 'Summer'),
      column('campaigns', id, 'subject', 'Other news'),
      column('campaigns', id, 'body', '<p>Other news</p>'),
      column('campaigns', id, 'document', { version: 1, blocks: [] }),
      column('campaigns', id, 'from', `other@${project.domain}`),
      column('campaigns', id, 'from_name', 'Somebody else'),
      column('campaigns', id, 'reply_to', 'somebody@else.example'),
      column('campaigns', id, 'type', 'TRANSACTIONAL'),
      column('campaigns', id, 'audience_type', 'ALL'),
      column('campaigns', id, 'audience_condition', contains('@second.example')),
      column('campaigns', id, 'segment_id', await aSegment(contains('@first.example'))),
      column('campaigns', id, 'scheduled_for', '2030-01-01T00:00:00Z'),
      column('campaigns', id, 'send_seq', 3),
      column('campaigns', id, 'content_version', 2),
      column('campaigns', id, 'revision', 77),
    ];
    // A column that comes later is one of these or has to be named here.
    const others = ['id', 'project_id', 'description', 'archived', 'created_at', 'updated_at', 'status', 'audit_note']
      .concat('sent_at', 'cancelled_at', 'paused_at', 'pause_reason', 'resend_of', 'resend_seq', 'correction')
      .concat('total_recipients', 'sent_count', 'delivered_count', 'opened_count', 'clicked_count', 'bounced_count')
      .concat('complained_count', 'unsubscribed_count', 'failed_count', 'skipped_count');
    expect(
      changes
        .map(({ of }) => of.slice('campaigns.'.length))
        .concat(others)
        .sort(),
    ).toEqual((await columnsOf('campaigns')).sort());
    const sameSize: Change = {
      of: 'an audience of the same size',
      async change() {
        const write = (out: string, into: string) =>
          database.db.count(
            `update contacts set email = case email when $2 then 'out@third.example' else $3 end
             where project_id = $1 and email in ($2, $4)`,
            [project.id, out, into, '3@second.example'],
          );
        expect(await write('1@first.example', '3@first.example')).toBe(2);
        return () =>
          database.db.count(
            `update contacts set email = case id when $2 then '3@second.example' else '1@first.example' end
             where project_id = $1 and email in ('out@third.example', '3@first.example')`,
            [project.id, outsider],
          );
      },
    };
    // This one has the same members by another condition.
    const definitions = [
      column('segments', outer, 'condition', contains('@first.')),
      column('segments', inner, 'condition', contains('@first.')),
    ];
    await holds(
      'plan_launch_campaign',
      { campaignId: id },
      [...changes, ...definitions, sameSize, ...ofProject()],
      async () => {
        const row = await database.db.row('select status, send_seq > 3 as sent from campaigns where id = $1', [id]);
        expect(row).toEqual({ status: 'DRAFT', sent: false });
      },
    );
  });

  test('a static segment of the same size', async () => {
    const [one, two] = [
      await aContact(database.db, project.id, 'one@static.example'),
      await aContact(database.db, project.id, 'two@static.example'),
    ];
    const segmentId = await aSegment(null, [one]);
    const made = await api.call(project.secretKey, 'POST', '/campaigns', {
      ...{ name: 'Static', subject: 'News', body: '<p>News</p>', from: project.sender },
      ...{ audienceType: 'SEGMENT', segmentId },
    });
    const swap = (from: string, to: string) =>
      database.db.count('update segment_memberships set contact_id = $3 where segment_id = $1 and contact_id = $2', [
        segmentId,
        from,
        to,
      ]);
    const swapped: Change = {
      of: 'its member',
      async change() {
        expect(await swap(one, two)).toBe(1);
        return () => swap(two, one);
      },
    };
    await holds('plan_launch_campaign', { campaignId: made.body.data.id }, [swapped], async () => undefined);
  });

  test('the template of an email', async () => {
    const template = await api.call(project.secretKey, 'POST', '/templates', {
      ...{ name: 'Receipt', subject: 'Your receipt', body: '<p>Thanks</p>', from: project.sender },
      type: 'TRANSACTIONAL',
    });
    const id = template.body.id;
    const changes = ofTemplate(id);
    const others = ['id', 'project_id', 'name', 'description', 'created_at', 'updated_at', 'removed_mails'];
    expect(
      changes
        .map(({ of }) => of.slice('templates.'.length))
        .concat(others)
        .sort(),
    ).toEqual((await columnsOf('templates')).sort());
    const input = { to: ['receipt@kunde.example'], templateId: id };
    await holds('plan_send_email', input, [...changes, ...ofProject()], async () => undefined);
  });

  test('a workflow, its graph, the templates of its steps, and the contact', async () => {
    const [templateId, other] = [await aTemplate(database.db, project), await aTemplate(database.db, project)];
    const automation = await anAutomation(database.db, project.id, {
      steps: { mail: ['SEND_EMAIL', { templateId, recipient: { type: 'CONTACT' } }], out: ['EXIT'] },
    });
    const { id, steps } = automation;
    const contactId = await aContact(database.db, project.id, 'enrolled@kunde.example');
    const path = await database.db.row<{ id: string }>(
      'select id from automation_transitions where automation_id = $1 and from_step_id = $2',
      [id, steps.mail],
    );
    const mail = steps.mail ?? '';
    const changes = [
      column('automations', id, 'name', 'Offboarding'),
      column('automations', id, 'allow_reentry', true),
      column('automations', id, 'trigger_type', 'MANUAL'),
      column('automations', id, 'trigger_config', { eventName: 'other' }),
      column('automations', id, 'revision', 77),
      column('automation_steps', mail, 'type', 'EXIT'),
      column('automation_steps', mail, 'name', 'Another name'),
      column('automation_steps', mail, 'config', {
        templateId,
        recipient: { type: 'CUSTOM', customEmail: 'x@victim.example' },
      }),
      column('automation_steps', mail, 'template_id', other),
      column('automation_transitions', path?.id ?? '', 'to_step_id', mail),
      column('automation_transitions', path?.id ?? '', 'branch', 'yes'),
      column('automation_transitions', path?.id ?? '', 'wait_outcome', 'EVENT'),
      column('automation_transitions', path?.id ?? '', 'priority', 5),
      ...ofTemplate(templateId),
      column('contacts', contactId, 'email', 'somebody@victim.example'),
      column('contacts', contactId, 'subscribed', false),
      column('contacts', contactId, 'data', { plan: 'other' }),
      ...ofProject(),
    ];
    await holds('plan_enrol', { workflowId: id, contactId }, changes, async () => {
      const runs = await database.db.rows('select id from automation_runs where automation_id = $1', [id]);
      expect(runs).toEqual([]);
    });
  });

  test('a failed email that is resent', async () => {
    const to = 'resent@kunde.example';
    const sent = await api.call(project.secretKey, 'POST', '/v1/send', {
      ...{ to, from: project.sender, subject: 'Hello', body: '<p>Hello</p>' },
    });
    const emailId = sent.body.data.emails[0].email;
    await database.db.count('delete from email_queue where email_id = $1', [emailId]);
    await database.db.count(`update emails set status = 'FAILED', reason = '{"code": "rejected"}' where id = $1`, [
      emailId,
    ]);
    const changes = [
      column('emails', emailId, 'to_address', 'somebody@victim.example'),
      column('emails', emailId, 'from', `other@${project.domain}`),
      column('emails', emailId, 'reply_to', 'somebody@else.example'),
      column('emails', emailId, 'render', { subject: 'Other', body: '<p>Other</p>', data: {}, contact: {} }),
      column('emails', emailId, 'headers', { 'X-Other': 'yes' }),
    ];
    await holds('plan_resend_email', { emailId }, changes, async () => undefined);
  });
});

describe('a plan', () => {
  const mail = (to: string) => ({ to: [to], from: project.sender, subject: 'Hello', body: '<p>{{ code }}</p>' });

  test('of other data or another sender is another mail, and what one key did is nothing to another', async () => {
    const [first, second] = [await aClient({ mode: 'act' }), await aClient({ mode: 'act' })];
    const commit = async (client: Client, input: object) => {
      const plan = await useTool(client, 'plan_send_email', input);
      expect(plan.planId, JSON.stringify(plan)).toBeDefined();
      return useTool(client, 'commit', { planId: plan.planId });
    };
    const to = 'codes@kunde.example';
    const before = (await mails())?.count ?? 0;
    await commit(first, { ...mail(to), data: { code: 1 } });
    expect(await useTool(first, 'plan_send_email', { ...mail(to), data: { code: 1 } })).toMatchObject({
      alreadyDone: true,
    });
    await commit(first, { ...mail(to), data: { code: 2 } });
    await commit(first, { ...mail(to), data: { code: 1 }, from: `other@${project.domain}` });
    await commit(second, { ...mail(to), data: { code: 1 } });
    expect((await mails())?.count).toBe(before + 4);
  });

  test('that would be refused is refused while it is made', async () => {
    const client = await aClient({ mode: 'act' });
    const refused = async (tool: string, input: object) => (await useTool(client, tool, input)).failed;
    expect(
      await refused('plan_send_email', { ...mail('a@kunde.example'), from: 'a@unverified.example' }),
    ).toMatchObject({
      message: expect.stringContaining('unverified.example'),
    });
    expect(await refused('plan_send_email', { to: ['a@kunde.example'], subject: 'x', body: 'x' })).toMatchObject({
      code: 'VALIDATION_ERROR',
    });
    const disabled = await anAutomation(database.db, project.id, { steps: { out: ['EXIT'] }, enabled: false });
    const contactId = await aContact(database.db, project.id, 'disabled@kunde.example');
    expect(await refused('plan_enrol', { workflowId: disabled.id, contactId })).toMatchObject({
      message: expect.stringContaining('disabled'),
    });
    // Trying it left nothing behind.
    const rows = await database.db.rows(`select from contacts where project_id = $1 and email = 'a@kunde.example'`, [
      project.id,
    ]);
    expect(rows).toEqual([]);
  });

  test('that waits for a person lives for a day and names where to approve it', async () => {
    const client = await aClient();
    const made = Date.now();
    const plan = await useTool(client, 'plan_send_email', mail('waits@kunde.example'));
    const hours = (Date.parse(plan.expiresAt) - made) / 3_600_000;
    expect([hours > 23.9, hours < 24.1]).toEqual([true, true]);
    const approvalUrl = `${api.config.DASHBOARD_URI}/app/${project.id}/settings?tab=keys`;
    expect(plan.approvalUrl).toBe(approvalUrl);
    expect((await useTool(client, 'commit', { planId: plan.planId })).failed).toMatchObject({
      code: 'APPROVAL_NEEDED',
      message: expect.stringContaining(approvalUrl),
    });
    const path = `/projects/${project.id}/mcp-plans/${plan.planId}/approve`;
    await api.call(null, 'POST', path, undefined, admin.session);
    const row = await database.db.row<{ hours: number }>(
      'select extract(epoch from expires_at - now())::float8 / 3600 as hours from mcp_plans where id = $1',
      [plan.planId],
    );
    expect(row?.hours).toBeGreaterThan(23.9);
  });

  test('is one of a hundred open ones of its key at most', async () => {
    const client = await aClient({ mode: 'act' });
    const ids: string[] = [];
    for (let n = 0; n < 100; n++)
      ids.push((await useTool(client, 'plan_send_email', mail(`open-${n}@kunde.example`))).planId);
    const more = () => useTool(client, 'plan_send_email', mail('open-more@kunde.example'));
    expect((await more()).failed.code).toBe('TOO_MANY_PLANS');
    expect(
      (await useTool(await aClient({ mode: 'act' }), 'plan_send_email', mail('x@kunde.example'))).planId,
    ).toBeDefined();
    await useTool(client, 'commit', { planId: ids[0] });
    expect((await more()).planId).toBeDefined();
    expect((await more()).failed.code).toBe('TOO_MANY_PLANS');
  });

  test('and every message to /mcp count in the window of the project', async () => {
    await using limited = await testApi(database, { RATE_LIMIT_PER_MINUTE: '20' });
    const own = await aProject(database);
    const list = () => limited.call(own.secretKey, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const statuses = [];
    for (let n = 0; n < 22; n++) statuses.push((await list()).status);
    expect(statuses).toEqual([...Array(20).fill(200), 429, 429]);
  });
});
