import pLimit from 'p-limit';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimRanges, type RangeClaim } from '../../src/campaigns/delivery/claims.ts';
import { runLane } from '../../src/campaigns/delivery/lane.ts';
import { bucketMade } from '../../src/mail/engine/throttle.ts';
import { aCampaign, contacts, started } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const holders = (campaign: string) =>
  db.db.rows<{ holder: string | null }>('select holder from campaign_claims where campaign_id = $1 and not settled', [
    campaign,
  ]);

/** A send whose audience is frozen, ready to be claimed in ranges of ten. */
async function aFrozenSend(recipients: number, provider: string) {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, recipients);
  const campaign = await aCampaign(db.db, project);
  await started(db.db, project.id, campaign, recipients);
  await db.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq)
     select uuidv7(), project_id, id, email, $2, 'CAMPAIGN', 'MARKETING', $3, 1 from contacts where project_id = $1`,
    [project.id, project.sender, campaign],
  );
  await db.db.count('update campaign_sends set expanded = true where campaign_id = $1', [campaign]);
  await bucketMade(db.db, project.id);
  const limits = {
    projectId: project.id,
    campaignId: campaign,
    sendSeq: 1,
    size: 10,
    rate: 0,
    provider,
    probing: false,
    canary: false,
    version: 1,
  };
  return { project, campaign, limits };
}

/** A send of 40 frozen rows, three claims of which an attempt holds that was killed. */
async function aDeadAttempt(provider: string) {
  const { project, campaign, limits } = await aFrozenSend(40, provider);
  const ids = [1, 2, 3].map((number) => `${provider}/7/1.${number}`);
  const { claims } = await claimRanges(db.db, limits, ids, `${provider}/7/1`);
  expect(claims.map(({ id }) => id)).toEqual(ids);
  return { campaign, lane: () => aLane(project.id, campaign, provider) };
}

/** Runs a lane of the second attempt at a send whose messages cannot be composed. */
function aLane(projectId: string, campaignId: string, provider: string) {
  const send = {
    projectId,
    campaignId,
    sendSeq: 1,
    compose: () => {
      throw new Error('nothing is composed here');
    },
    needsSubscription: true,
    canary: false,
    version: 1,
    size: 10,
    holder: `${provider}/7/2`,
    prefix: `${provider}/7/`,
  };
  const deps = {
    db: db.db,
    mailer: new FakeMailer({ name: provider }),
    statements: pLimit(4),
    claiming: pLimit(1),
    rendering: pLimit(1),
    log: pino({ level: 'silent' }),
    rate: 0,
    lagMs: 60_000,
  };
  return runLane(deps as never, send as never, { claims: 4, longestMs: 600_000 }, new AbortController().signal);
}

test('a lane that finds its provider held leaves no claim behind that only itself could take over', async () => {
  const { campaign, lane } = await aDeadAttempt('held-provider');
  await db.db.count(
    `insert into provider_holds (provider, failures, reason, held_since, held_until)
     values ('held-provider', 3, 'provider answers 500', now(), now() + interval '1 minute')`,
  );
  expect((await lane()).end).toBe('held');
  expect(await holders(campaign)).toEqual([{ holder: null }, { holder: null }, { holder: null }]);
});

test('a lane whose campaign was paused leaves no claim behind either', async () => {
  const { campaign, lane } = await aDeadAttempt('paused-provider');
  await db.db.count('update campaigns set paused_at = now() where id = $1', [campaign]);
  expect((await lane()).end).toBe('paused');
  expect(await holders(campaign)).toEqual([{ holder: null }, { holder: null }, { holder: null }]);
});

test.each([
  ['who have left', 'skipped', 'update contacts set subscribed = false where project_id = $1'],
  ['whose mail cannot be composed', 'failed', 'select $1::uuid'],
])('a lane that may probe settles recipients %s at once, and uses no probe up', async (_, outcome, change) => {
  const provider = `probe-${outcome}`;
  const { project, campaign } = await aFrozenSend(67, provider);
  await db.db.count(change, [project.id]);
  await db.db.count(
    `insert into provider_holds (provider, failures, reason, held_since, held_until)
     values ($1, 3, 'provider answers 500', now(), now())`,
    [provider],
  );
  expect(await aLane(project.id, campaign, provider)).toMatchObject({ end: 'empty', [outcome]: 67, hold: null });
  expect(
    await db.db.row('select held_until <= now() as due from provider_holds where provider = $1', [provider]),
  ).toEqual({ due: true });
});

/** How many frozen rows lie in each range, and that the ranges follow one another. */
async function sizes(campaign: string, claims: readonly RangeClaim[], after: string | null) {
  const counts: number[] = [];
  let edge = after;
  for (const { afterContact, throughContact } of claims) {
    if (edge !== null) expect(afterContact).toBe(edge);
    edge = throughContact;
    const row = await db.db.row<{ count: number }>(
      `select count(*)::int as count from emails where campaign_id = $1 and contact_id > $2::uuid and contact_id <= $3::uuid`,
      [campaign, afterContact, throughContact],
    );
    counts.push(row?.count ?? 0);
  }
  return { counts, edge };
}

test('ranges that are claimed together hold everybody once, one after the other', async () => {
  const { campaign, limits } = await aFrozenSend(67, 'together');
  const claim = (name: string) =>
    claimRanges(
      db.db,
      limits,
      ['1', '2', '3', '4'].map((n) => `${name}.${n}`),
      name,
    );
  const first = await claim('a');
  const whole = await sizes(campaign, first.claims, null);
  expect(whole.counts).toEqual([10, 10, 10, 10]);
  const second = await claim('b');
  const rest = await sizes(campaign, second.claims, whole.edge);
  expect(rest.counts).toEqual([10, 10, 7]);
  expect(second.claims.map(({ id }) => id)).toEqual(['b.1', 'b.2', 'b.3']);
  expect(await claim('c')).toMatchObject({ sending: true, expanded: true, claims: [] });
  const written = await db.db.rows('select id, size from campaign_claims where campaign_id = $1 order by id', [
    campaign,
  ]);
  expect(written).toEqual([...first.claims, ...second.claims].map(({ id }) => ({ id, size: id === 'b.3' ? 7 : 10 })));
});

test('ranges that are claimed together take no more than the throttle has', async () => {
  const { project, campaign, limits } = await aFrozenSend(67, 'throttled');
  // The bucket holds two seconds of mail and keeps one of them for mail that must not wait.
  const { claims } = await claimRanges(db.db, { ...limits, rate: 25 }, ['t.1', 't.2', 't.3', 't.4'], 't');
  expect((await sizes(campaign, claims, null)).counts).toEqual([10, 10, 5]);
  const bucket = await db.db.row<{ tokens: number }>('select tokens from send_buckets where id = $1', [project.id]);
  expect(bucket?.tokens).toBe(25);
});
