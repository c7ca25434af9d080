import pLimit from 'p-limit';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareBy } from '../../src/campaigns/delivery/content.ts';
import { reviewShare } from '../../src/launches/review/dry-run.ts';
import { removeOldDryRuns } from '../../src/launches/review/queries.ts';
import { getDryRun } from '../../src/launches/review/report.ts';
import {
  aCampaign,
  type CampaignChanges,
  campaignActivitiesFor,
  campaignRow,
  compose,
  contacts,
  started,
} from '../support/campaign-fixtures.ts';
import { aDryRun, reviewDeps, reviewed } from '../support/campaign-reviews.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, type TestProject } from '../support/delivery-fixtures.ts';
import { inFull } from '../support/long.ts';
import { FakeMailer } from '../support/mailer.ts';
import { allOf, dataIs } from '../support/segments.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

let db: TestDatabase;
let mailer: FakeMailer;
let worker: TestWorker;
beforeAll(async () => {
  db = await testDatabase();
  mailer = new FakeMailer({ name: 'reviews' });
  worker = await testWorker({ activities: campaignActivitiesFor(db.db, mailer), queues: ['campaign'] });
});
afterAll(async () => {
  await worker.stop();
  await db.close();
});

const rule = (project: TestProject, kind: string, pattern: string) =>
  db.db.count(
    `insert into suppression_rules (id, project_id, name, kind, pattern) values (gen_random_uuid(), $1, 'QA', $2, $3)`,
    [project.id, kind, pattern],
  );
const wouldGet = async (campaign: string) =>
  (
    await db.db.rows<{ id: string }>(
      `select r.contact_id as id from dry_run_rows r join dry_runs d on d.id = r.dry_run_id
       where d.campaign_id = $1 and r.left_out is null order by 1`,
      [campaign],
    )
  ).map(({ id }) => id);
const got = async (campaign: string) =>
  (
    await db.db.rows<{ id: string }>(
      `select contact_id as id from emails where campaign_id = $1 and sent_at is not null order by 1`,
      [campaign],
    )
  ).map(({ id }) => id);

const shareDeps = (rest: number) => ({
  db: db.db,
  heavyReads: { of: () => db.db },
  log: pino({ level: 'silent' }),
  prepare: prepareBy(compose),
  rendering: pLimit(1),
  chunk: 10,
  rest,
});

// The parameters of campaign n, so that a failure names the campaign that shows it.
function changesOf(n: number): CampaignChanges {
  const isPro = allOf(dataIs('plan', 'pro'));
  return {
    type: (['MARKETING', 'TRANSACTIONAL', 'HEADLESS'] as const)[n % 3] ?? 'MARKETING',
    ...(n % 2 === 0 ? { audienceType: 'FILTERED', audienceCondition: isPro } : {}),
    subject: n % 5 === 0 ? 'For {{ plan }}' : 'Hello {{firstName ?? friend}}',
    body: [
      '<p>Dear {{ firstName }}</p>',
      '{% for i in (1..100000) %}{% for j in (1..9) %}{% endfor %}{% endfor %}',
      '<p>{% if plan %}{{ plan }}{% endif %} {{ city }}</p>',
      '<p>{{ broken',
    ][n % 4] as string,
  };
}

describe('a dry run', () => {
  test('hands nothing over, and finds exactly whom the send then reaches, for generated campaigns', async () => {
    // After 60 the parameters of `changesOf` and the sizes of the audience come again.
    const together = pLimit(4);
    const numbers = Array.from({ length: inFull(60, 12) }, (_, n) => n);
    const check = async (n: number) => {
      const project = await aProject(db.db);
      await contacts(db.db, project.id, 5 + ((n * 7) % 28));
      await db.db.count(
        `update contacts set data = data || case when substring(email from '[0-9]+')::int % 3 = 0 then '{"plan": "pro"}'::jsonb else '{}' end,
           subscribed = substring(email from '[0-9]+')::int % 4 > 0 where project_id = $1`,
        [project.id],
      );
      if (n % 3 > 0) await rule(project, 'ADDRESS', 'watcher-9@example.com');
      if (n % 2 > 0)
        await db.db.count(`update projects set holdout = '{"key": "k", "percent": 30, "until": null}' where id = $1`, [
          project.id,
        ]);
      const campaign = await aCampaign(db.db, project, changesOf(n));
      const report = await reviewed(db.db, worker, project, campaign);
      expect(report, `campaign ${n}`).toMatchObject({ state: 'DONE', progress: 100, failedReason: null, changed: [] });
      expect(mailer.sent.filter(({ projectId }) => projectId === project.id)).toEqual([]);
      const start = await started(db.db, project.id, campaign);
      await worker.perform(start);
      expect(await worker.result(start.id)).toMatchObject({ status: 'SENT' });
      const { total, sent } = await campaignRow(db.db, campaign);
      expect([report.audience, report.wouldSend], `campaign ${n}`).toEqual([total, sent]);
      expect(await wouldGet(campaign), `campaign ${n}`).toEqual(await got(campaign));
      expect(report.leftOut.reduce((sum, { count }) => sum + count, report.wouldSend)).toBe(report.audience);
    };
    await Promise.all(numbers.map((n) => together(check, n)));
  });

  test('names what is wrong, with examples, and shows messages as contacts would get them', async () => {
    const project = await aProject(db.db, { sendRate: 2 });
    const ada = await aContact(db.db, project.id, 'ada@posteo.de', { data: { firstName: 'Ada', city: 'Köln' } });
    const bob = await aContact(db.db, project.id, 'bob@gmail.com', { data: { city: '', link: 'https://acme.com' } });
    await aContact(db.db, project.id, 'caught@gmail.com', { data: { firstName: 'Cai', city: 'Cork' } });
    await rule(project, 'ADDRESS', 'caught@gmail.com');
    const campaign = await aCampaign(db.db, project, {
      subject: 'For {{ firstName }}',
      body: '<p>{{ city }} {{ nickname ?? you }} {% if vip %}{{ vip }}{% endif %}</p><a href="{{ link }}">x</a><img src="http://acme.com/a.png" alt="">',
    });
    const report = await reviewed(db.db, worker, project, campaign);
    expect(report).toMatchObject({
      audience: 3,
      wouldSend: 2,
      leftOut: [{ reason: 'Suppressed by rule "QA"', count: 1 }],
      problems: [
        { kind: 'empty link', count: 1, example: { contactId: ada, email: 'ada@posteo.de' } },
        { kind: 'http image', count: 2 },
      ],
      byProvider: [
        { domain: 'gmail.com', count: 1 },
        { domain: 'posteo.de', count: 1 },
      ],
      takes: 1,
      room: { limit: null, left: null },
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(report.missing).toContainEqual({
      variable: 'firstName',
      contacts: 1,
      examples: [{ contactId: bob, email: 'bob@gmail.com' }],
    });
    expect(report.missing.map(({ variable }) => variable).sort()).toEqual(['city', 'firstName', 'link']);
    const samples = new Map(report.samples.map((sample) => [sample.contactId, sample]));
    expect(samples.get(ada)).toMatchObject({ email: 'ada@posteo.de', subject: 'For Ada' });
    expect(samples.get(ada)?.html).toContain('Köln you');
    expect(samples.size).toBe(2);
    const again = await reviewed(db.db, worker, project, campaign);
    expect(again).toMatchObject({ n: 2, fingerprint: report.fingerprint });
  });

  test('of a sample decides about everybody, and renders as many messages as it says, spread over the audience', async () => {
    const project = await aProject(db.db);
    await contacts(db.db, project.id, 95);
    await db.db.count(`update contacts set data = '{"firstName": ""}' where project_id = $1`, [project.id]);
    await rule(project, 'ADDRESS', 'watcher-9@example.com');
    const campaign = await aCampaign(db.db, project, { body: '<p>Dear {{ firstName }}</p>' });
    const all = await reviewed(db.db, worker, project, campaign);
    expect(all).toMatchObject({ sample: 'all', rendered: 94, audience: 95, wouldSend: 94 });
    const report = await reviewed(db.db, worker, project, campaign, 20);
    expect(report).toMatchObject({
      state: 'DONE',
      sample: 20,
      rendered: 20,
      audience: 95,
      wouldSend: 94,
      leftOut: [{ reason: 'Suppressed by rule "QA"', count: 1 }],
      missing: [{ variable: 'firstName', contacts: 20 }],
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    // A page has ten contacts.
    const rendered = await db.db.rows<{ count: number }>(
      `select count(*) filter (where body_hash is not null)::int as count from (
         select body_hash, (row_number() over (order by contact_id) - 1) / 10 as page
         from dry_run_rows r join dry_runs d on d.id = r.dry_run_id where d.campaign_id = $1 and d.n = $2) t
       group by page order by page`,
      [campaign, report.n],
    );
    expect(rendered.map(({ count }) => count)).toEqual([2, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
    expect(report.samples).toHaveLength(10);
    const again = await reviewed(db.db, worker, project, campaign, 20);
    expect(again.fingerprint).toBe(report.fingerprint);
    const larger = await reviewed(db.db, worker, project, campaign, 1000);
    expect(larger).toMatchObject({ sample: 1000, rendered: 94, fingerprint: all.fingerprint });
    // Rows have no foreign key, and go with their dry run nevertheless.
    const rows = () =>
      db.db.rows('select from dry_run_rows where dry_run_id = any (select id from dry_runs where campaign_id = $1)', [
        campaign,
      ]);
    expect(await rows()).toHaveLength(4 * 95);
    const ids = await db.db.rows<{ id: string }>('delete from dry_runs where campaign_id = $1 returning id', [
      campaign,
    ]);
    const left = await db.db.rows('select from dry_run_rows where dry_run_id = any ($1::uuid[])', [
      ids.map(({ id }) => id),
    ]);
    expect(left).toEqual([]);
  });

  test('tells a changed campaign, and shows no samples of what was not reviewed', async () => {
    const project = await aProject(db.db);
    await contacts(db.db, project.id, 3);
    const campaign = await aCampaign(db.db, project);
    await expect(getDryRun(reviewDeps(db.db, project), project.id, campaign, 'latest')).rejects.toThrow('no dry run');
    await reviewed(db.db, worker, project, campaign);
    await db.db.count(`update campaigns set subject = 'New', body = '<p>New</p>' where id = $1`, [campaign]);
    await db.db.count(`update projects set language = 'de' where id = $1`, [project.id]);
    const report = await getDryRun(reviewDeps(db.db, project), project.id, campaign, 'latest');
    expect(report).toMatchObject({ changed: ['subject', 'body', 'project.language'], samples: [] });
    await expect(getDryRun(reviewDeps(db.db, project), project.id, campaign, '7')).rejects.toMatchObject({
      status: 404,
    });
    const other = await aProject(db.db);
    await expect(getDryRun(reviewDeps(db.db, other), other.id, campaign, '1')).rejects.toMatchObject({ status: 404 });
  });

  test.each([
    ['disabled', 'update projects set disabled = true where id = $1', 'The project is disabled'],
    [
      'edited',
      `update campaigns set subject = 'New' where project_id = $1`,
      'The campaign was changed meanwhile: subject',
    ],
    ['deleted', 'delete from campaigns where project_id = $1', 'The campaign was deleted'],
  ])('of a campaign that is %s before it is over ends with the reason', async (_, change, reason) => {
    const project = await aProject(db.db);
    await contacts(db.db, project.id, 3);
    const campaign = await aCampaign(db.db, project);
    const { start } = await aDryRun(db.db, project, campaign);
    await db.db.count(change, [project.id]);
    await worker.perform(start);
    await worker.result(start.id);
    expect(
      await db.db.row('select state, failed_reason as reason from dry_runs where campaign_id = $1', [campaign]),
    ).toEqual({ state: 'FAILED', reason });
  });

  test('goes on where a killed attempt stopped, passes everybody once, and ends one that is replaced', async () => {
    const project = await aProject(db.db);
    await contacts(db.db, project.id, 35);
    const campaign = await aCampaign(db.db, project);
    await aDryRun(db.db, project, campaign);
    const { report, start } = await aDryRun(db.db, project, campaign);
    const first = await getDryRun(reviewDeps(db.db, project), project.id, campaign, '1');
    expect(first).toMatchObject({ state: 'FAILED', failedReason: 'A newer dry run has replaced it' });
    // An attempt that is cut off once its second page of ten is written; the third has been rendered meanwhile and is kept as well.
    const killed = new AbortController();
    const { dryRunId } = start.input as { dryRunId: string };
    const onPage = (passed: number) => passed >= 20 && killed.abort();
    await reviewShare(shareDeps(0), dryRunId, { stop: killed.signal, longestMs: 600_000, onPage });
    const half = await getDryRun(reviewDeps(db.db, project), project.id, campaign, String(report.n));
    expect(half).toMatchObject({ state: 'RUNNING', audience: 30, progress: 85, fingerprint: null });
    await worker.perform(start);
    await worker.result(start.id);
    const done = await getDryRun(reviewDeps(db.db, project), project.id, campaign, String(report.n));
    expect(done).toMatchObject({ state: 'DONE', audience: 35, wouldSend: 35 });
    expect(await wouldGet(campaign)).toHaveLength(35);
    // A straight run finds the same.
    expect(await reviewed(db.db, worker, project, campaign)).toMatchObject({ fingerprint: done.fingerprint });
  });

  test('rests after each page, at most half a second, and leaves that out of the time that rendering took', async () => {
    const project = await aProject(db.db);
    await contacts(db.db, project.id, 35);
    const { start } = await aDryRun(db.db, project, await aCampaign(db.db, project));
    const { dryRunId } = start.input as { dryRunId: string };
    const stop = new AbortController().signal;
    const began = performance.now();
    await reviewShare(shareDeps(10_000), dryRunId, { stop, longestMs: 600_000, onPage: () => undefined });
    const tookMs = performance.now() - began;
    const row = await db.db.row<{ state: string; ms: number }>(
      'select state, render_ms::float8 as ms from dry_runs where id = $1',
      [dryRunId],
    );
    expect(row?.state).toBe('DONE');
    expect(tookMs - (row?.ms ?? 0)).toBeGreaterThan(4 * 490);
  });

  test('is removed when it has expired, rows first', async () => {
    const project = await aProject(db.db);
    await contacts(db.db, project.id, 5);
    const campaign = await aCampaign(db.db, project);
    await reviewed(db.db, worker, project, campaign);
    await removeOldDryRuns(db.db, 3);
    expect(await wouldGet(campaign)).toHaveLength(5);
    await db.db.count(`update dry_runs set expires_at = now() - interval '1 second' where campaign_id = $1`, [
      campaign,
    ]);
    await removeOldDryRuns(db.db, 3);
    expect(await wouldGet(campaign)).toHaveLength(2);
    await removeOldDryRuns(db.db, 3);
    expect(await db.db.rows('select from dry_runs where campaign_id = $1', [campaign])).toEqual([]);
  });
});
