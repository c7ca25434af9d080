import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { audience } from '../support/audience.ts';
import {
  aCampaign,
  type CampaignChanges,
  campaignActivitiesFor,
  campaignRow,
  contacts,
  ledgerOf,
  started,
} from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, type TestProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { allOf, dataIs } from '../support/segments.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

let db: TestDatabase;
let mailer: FakeMailer;
let worker: TestWorker;
beforeAll(async () => {
  db = await testDatabase();
  mailer = new FakeMailer({ name: 'audience' });
  worker = await testWorker({ activities: campaignActivitiesFor(db.db, mailer), queues: ['campaign'] });
});
afterAll(async () => {
  await worker.stop();
  await db.close();
});

const sentFor = (project: TestProject) => mailer.sent.filter(({ projectId }) => projectId === project.id);
const reached = (project: TestProject) =>
  sentFor(project)
    .map(({ to }) => to.address)
    .sort();

/** A project whose every third contact is on the plan "pro"; the pages of the tests hold seven contacts. */
async function withPlans(count = 40): Promise<{ project: TestProject; pros: string[] }> {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, count);
  const rows = await db.db.rows<{ email: string }>(
    `update contacts set data = data || '{"plan": "pro"}' where project_id = $1
       and substring(email from '[0-9]+')::int % 3 = 0 returning email`,
    [project.id],
  );
  return { project, pros: rows.map(({ email }) => email).sort() };
}

async function send(project: TestProject, changes: CampaignChanges): Promise<string> {
  const campaign = await aCampaign(db.db, project, changes);
  const start = await started(db.db, project.id, campaign);
  await worker.perform(start);
  expect(await worker.result(start.id)).toMatchObject({ status: 'SENT' });
  return campaign;
}

const isPro = allOf(dataIs('plan', 'pro'));
async function segment(project: TestProject, type: 'DYNAMIC' | 'STATIC', members: readonly string[] = []) {
  const id = newId();
  await db.db.count(
    `insert into segments (id, project_id, name, type, condition, track_membership) values ($1, $2, 'Pros', $3, $4, $5)`,
    [id, project.id, type, type === 'DYNAMIC' ? JSON.stringify(isPro) : null, type === 'DYNAMIC'],
  );
  await db.db.count(
    `insert into segment_memberships (segment_id, contact_id) select $1, id from contacts where project_id = $2 and email = any($3)`,
    [id, project.id, members],
  );
  return id;
}

describe('a campaign reaches', () => {
  test('whom its condition matches, over several pages of the audience, each once', async () => {
    const { project, pros } = await withPlans();
    const campaign = await send(project, { audienceType: 'FILTERED', audienceCondition: isPro });
    expect(reached(project)).toEqual(pros);
    expect(await campaignRow(db.db, campaign)).toMatchObject({ total: pros.length, sent: pros.length });
  });

  test('whom a dynamic segment matches now, whatever its membership rows say', async () => {
    const { project, pros } = await withPlans();
    const segmentId = await segment(project, 'DYNAMIC', ['watcher-1@example.com']);
    await send(project, { audienceType: 'SEGMENT', segmentId });
    expect(reached(project)).toEqual(pros);
  });

  test('the current members of a static segment', async () => {
    const { project } = await withPlans();
    const members = ['watcher-1@example.com', 'watcher-2@example.com', 'watcher-5@example.com'];
    const segmentId = await segment(project, 'STATIC', members);
    await db.db.count(
      'update segment_memberships set exited_at = now() where segment_id = $1 and contact_id = (select id from contacts where project_id = $2 and email = $3)',
      [segmentId, project.id, 'watcher-2@example.com'],
    );
    await send(project, { audienceType: 'SEGMENT', segmentId });
    expect(reached(project)).toEqual(['watcher-1@example.com', 'watcher-5@example.com']);
  });

  test('each its own audience, of many more campaigns at once than there are connections', async () => {
    await using small = await testDatabase(4);
    const own = new FakeMailer({ name: 'many' });
    await using few = await testWorker({ activities: campaignActivitiesFor(small.db, own), queues: ['campaign'] });
    const project = await aProject(small.db);
    await contacts(small.db, project.id, 20);
    await small.db.count(`update contacts set data = data || '{"plan": "pro"}' where project_id = $1`, [project.id]);
    const starts = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const changes = { audienceType: 'FILTERED', audienceCondition: isPro } as const;
        return started(small.db, project.id, await aCampaign(small.db, project, changes), 20);
      }),
    );
    for (const start of starts) await few.perform(start);
    for (const start of starts) expect(await few.result(start.id)).toMatchObject({ status: 'SENT', sent: 20 });
    expect(own.sent).toHaveLength(12 * 20);
  });

  test('nobody where its segment is gone, and is over all the same', async () => {
    const { project } = await withPlans(5);
    const campaign = await send(project, { audienceType: 'SEGMENT', segmentId: newId() });
    expect(reached(project)).toEqual([]);
    expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SENT', total: 0 });
  });

  test('nobody where its condition can no longer be read, and says why', async () => {
    const { project } = await withPlans(5);
    const campaign = await send(project, {
      audienceType: 'FILTERED',
      audienceCondition: allOf({ field: 'weather', operator: 'equals', value: 'rain' }),
    });
    expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SENT', total: 0 });
    const row = await db.db.row<{ note: string }>('select audit_note as note from campaigns where id = $1', [campaign]);
    expect(row?.note).toMatch(/audience cannot be found/);
  });

  test('no contact that unsubscribes, is suppressed or is deleted before its turn', async () => {
    const project = await aProject(db.db);
    await contacts(db.db, project.id, 30);
    const slow = new FakeMailer({ name: 'turns' });
    let told = false;
    // The first call is under way when three of the last contacts change their minds.
    slow.onCall = async () => {
      if (told) return;
      told = true;
      await db.db.count(
        `update contacts set subscribed = false where project_id = $1 and email = 'watcher-28@example.com'`,
        [project.id],
      );
      await db.db.count(`delete from contacts where project_id = $1 and email = 'watcher-29@example.com'`, [
        project.id,
      ]);
      await db.db.count(
        `insert into suppression_rules (id, project_id, name, kind, pattern) values (uuidv7(), $1, 'Robots', 'ADDRESS', 'watcher-30@example.com')`,
        [project.id],
      );
    };
    await using own = await testWorker({
      activities: campaignActivitiesFor(db.db, slow, {
        lanes: 1,
        chunk: 5,
        pace: { claims: 1, longestMs: 5000 },
        expansionPage: 100,
      }),
      queues: ['campaign'],
    });
    const campaign = await aCampaign(db.db, project);
    const start = await started(db.db, project.id, campaign, 30);
    await own.perform(start);
    expect(await own.result(start.id)).toMatchObject({ status: 'SENT', sent: 27, skipped: 2, failed: 0 });
    expect(await ledgerOf(db.db, campaign)).toEqual({ SENT: 27, 'FAILED: Contact is unsubscribed': 1, SUPPRESSED: 1 });
    expect(await campaignRow(db.db, campaign)).toMatchObject({ total: 29, sent: 27, skipped: 2, failed: 0 });
    for (const late of [28, 29, 30]) expect(slow.recipients).not.toContain(`watcher-${late}@example.com`);
  });
});

describe('what a campaign of each type sends', () => {
  const [person] = audience();
  const bulk = ['Precedence', 'Auto-Submitted', 'X-Auto-Response-Suppress'];
  const pair = ['List-Unsubscribe', 'List-Unsubscribe-Post'];

  async function sentBy(type: 'MARKETING' | 'HEADLESS' | 'TRANSACTIONAL', body: string) {
    const project = await aProject(db.db, { tracking: 'MARKETING_ONLY' });
    await aContact(db.db, project.id, person?.email ?? '', { data: { firstName: person?.firstName } });
    await aContact(db.db, project.id, 'left@example.com', { subscribed: false });
    const campaign = await send(project, { type, body });
    const messages = sentFor(project);
    const message = messages.find(({ to }) => to.address === person?.email);
    const source = await db.db.rows<{ source: string }>(
      'select distinct source_type as source from emails where campaign_id = $1',
      [campaign],
    );
    return {
      names: (message?.headers ?? []).map(({ name }) => name),
      message,
      reachesUnsubscribed: messages.length === 2,
      source: source.map((row) => row.source),
    };
  }
  const plain = '<p>Dear {{firstName}}, the herons are back.</p>';
  const linking = `${plain}<p><a href="{{unsubscribeUrl}}">Leave</a></p>`;

  test('MARKETING: to subscribed contacts, with footer, one-click unsubscribe, bulk headers and tracking', async () => {
    const { names, message, reachesUnsubscribed, source } = await sentBy('MARKETING', plain);
    expect(names).toEqual(expect.arrayContaining([...pair, ...bulk]));
    expect(message?.html).toContain('/unsubscribe/');
    expect(message).toMatchObject({ tracking: true, stream: 'broadcast' });
    expect(reachesUnsubscribed).toBe(false);
    expect(source).toEqual(['CAMPAIGN']);
  });

  test('HEADLESS: to subscribed contacts, without a footer; one-click unsubscribe where its own text links the page', async () => {
    const without = await sentBy('HEADLESS', plain);
    expect(without.names).toEqual(expect.arrayContaining(bulk));
    expect(without.names).not.toContain('List-Unsubscribe');
    expect(without.message?.html).not.toContain('/unsubscribe/');
    expect(without.message).toMatchObject({ tracking: true });
    expect(without.reachesUnsubscribed).toBe(false);
    const having = await sentBy('HEADLESS', linking);
    expect(having.names).toEqual(expect.arrayContaining([...pair, ...bulk]));
    expect(having.source).toEqual(['CAMPAIGN']);
  });

  test('TRANSACTIONAL: to everybody, without footer and without tracking where only marketing is tracked', async () => {
    const { names, message, reachesUnsubscribed, source } = await sentBy('TRANSACTIONAL', plain);
    expect(names).toEqual(expect.arrayContaining(bulk));
    expect(names).not.toContain('List-Unsubscribe');
    expect(message?.html).not.toContain('/unsubscribe/');
    expect(message).toMatchObject({ tracking: false, stream: 'transactional' });
    expect(reachesUnsubscribed).toBe(true);
    expect(source).toEqual(['TRANSACTIONAL']);
  });

  test('a template that no longer parses is filled in plainly, and nothing is stuck', async () => {
    const project = await aProject(db.db);
    await aContact(db.db, project.id, person?.email ?? '', { data: { firstName: person?.firstName } });
    await send(project, { subject: 'Hello {{firstName}}', body: '<p>{% if %}Dear {{firstName}}</p>' });
    expect(sentFor(project)).toMatchObject([{ subject: `Hello ${person?.firstName}` }]);
    expect(sentFor(project)[0]?.html).toContain(`Dear ${person?.firstName}`);
  });
});
