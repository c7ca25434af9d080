import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimRange } from '../../src/campaigns/claims.ts';
import { createGate } from '../../src/campaigns/gate.ts';
import { runLane } from '../../src/campaigns/lane.ts';
import { bucketMade } from '../../src/delivery/throttle.ts';
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

/** A send of 40 frozen rows, three claims of which an attempt holds that was killed. */
async function aDeadAttempt(provider: string) {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, 40);
  const campaign = await aCampaign(db.db, project);
  await started(db.db, project.id, campaign, 40);
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
  };
  for (const number of [1, 2, 3]) {
    const { claim } = await claimRange(db.db, limits, `${provider}/7/1.${number}`, `${provider}/7/1`);
    expect(claim).not.toBeNull();
  }
  const send = {
    projectId: project.id,
    campaignId: campaign,
    sendSeq: 1,
    compose: () => {
      throw new Error('nothing is composed here');
    },
    needsSubscription: true,
    size: 10,
    holder: `${provider}/7/2`,
    prefix: `${provider}/7/`,
  };
  const deps = {
    db: db.db,
    mailer: new FakeMailer({ name: provider }),
    gate: createGate(4),
    claiming: createGate(1),
    log: pino({ level: 'silent' }),
    rate: 0,
    lagMs: 60_000,
  };
  const lane = () => runLane(deps as never, send as never, { claims: 4, shareMs: 5_000 }, new AbortController().signal);
  return { campaign, lane };
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
