import pLimit from 'p-limit';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadExpansion, noteRecipients } from '../../src/campaigns/audience/expansion.ts';
import { expandFrom } from '../../src/campaigns/audience/freeze.ts';
import { CampaignClaim } from '../../src/campaigns/delivery/campaign-claim.ts';
import { claimRanges, type RangeClaim } from '../../src/campaigns/delivery/claims.ts';
import { finishSend } from '../../src/campaigns/delivery/completion.ts';
import { type LaneDeps, type LaneSend, runLane } from '../../src/campaigns/delivery/lane.ts';
import { readRecipients } from '../../src/campaigns/delivery/ledger.ts';
import { retakeClaim } from '../../src/campaigns/delivery/retaking.ts';
import { auditCampaign } from '../../src/campaigns/results/results.ts';
import { openSend } from '../../src/campaigns/state.ts';
import { launchGate } from '../../src/launches/gate.ts';
import { systemClock } from '../../src/lib/time.ts';
import { bucketMade } from '../../src/mail/engine/throttle.ts';
import { workOn } from '../../src/mail/engine/work.ts';
import { aCampaign, campaignRow, contacts, ledgerOf } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject, type TestProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';

// docs/contract/campaigns-and-workflows.md#4-5: what each moment of a crash leaves, and what the retry makes of it. A dead
// attempt is one that stopped after a step; the retry has the same prefix and another number, as Temporal gives it.
let db: TestDatabase;
let project: TestProject;
let campaign: string;
let mailer: FakeMailer;
let deps: LaneDeps;
let round = 0;
const people = 20;
const chunk = 5;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  round += 1;
  project = await aProject(db.db);
  await contacts(db.db, project.id, people);
  campaign = await aCampaign(db.db, project);
  mailer = new FakeMailer({ name: `crash-${round}` });
  const log = pino({ level: 'silent' });
  deps = {
    db: db.db,
    statements: pLimit(6),
    claiming: pLimit(1),
    rendering: pLimit(1),
    mailer,
    log,
    rate: 0,
    lagMs: 0,
  };
  await openSend(db.db, campaign, people, null);
  await bucketMade(db.db, project.id);
});

const sendOf = (attempt: number): LaneSend => ({
  projectId: project.id,
  campaignId: campaign,
  sendSeq: 1,
  compose: ({ emailId, toAddress }) => ({
    emailId,
    projectId: project.id,
    from: { address: project.sender, name: null },
    to: { address: toAddress, name: null },
    replyTo: null,
    subject: 'The herons are back',
    html: '<p>Look up.</p>',
    text: null,
    headers: [],
    attachments: [],
    tag: 'CAMPAIGN',
    stream: 'broadcast',
    tracking: false,
  }),
  messageClass: 'MARKETING',
  needsSubscription: true,
  canary: false,
  version: 1,
  size: chunk,
  holder: `run-${round}/7/${attempt}`,
  prefix: `run-${round}/7/`,
});

async function expand(pages = Number.POSITIVE_INFINITY): Promise<void> {
  const send = await loadExpansion(db.db, campaign, 1);
  if (send === null) throw new Error('The send is gone');
  let left = pages;
  const billing = { freeTier: null, publicDailyEmails: null };
  const expansion = { db: db.db, billing, clock: systemClock, launchGate, cursors: pLimit(1), expansionPage: 3 };
  await expandFrom(expansion, send, () => {
    left -= 1;
    if (left < 0) throw new Error('killed');
  });
  await noteRecipients(db.db, campaign, 1);
}

/** What the first attempt claimed before it died. */
async function claimed(): Promise<RangeClaim> {
  const { size, holder, projectId, campaignId, sendSeq } = sendOf(1);
  const limits = {
    projectId,
    campaignId,
    sendSeq,
    size,
    rate: 0,
    provider: mailer.name,
    probing: false,
    canary: false,
    version: 1,
  };
  const { claims } = await claimRanges(db.db, limits, [`${holder}.1`], holder);
  const [claim] = claims;
  if (claim === undefined) throw new Error('Nothing was claimed');
  return claim;
}
async function handedOver(claim: RangeClaim): Promise<void> {
  const recipients = await readRecipients(db.db, sendOf(1), claim);
  await mailer.send(claim.id, recipients.map(sendOf(1).compose));
}
/** The first attempt works on its claim, which it took so many milliseconds ago. */
function worked(deps: LaneDeps, claim: RangeClaim, agoMs = 0) {
  const taking = { takenAt: performance.now() - agoMs, calls: 'allowed' } as const;
  return workOn(deps, new CampaignClaim(deps, sendOf(1), { ...claim, sending: true }, taking));
}
/** The retry works until nothing is left, and the balance sheet is drawn up. */
async function retried(): Promise<void> {
  const report = await runLane(deps, sendOf(2), { claims: 2, longestMs: 600_000 }, new AbortController().signal);
  expect(report.end).toBe('empty');
  expect(await finishSend(db.db, campaign, 1)).toBe(true);
  expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SENT', total: people, sent: people, failed: 0 });
  expect(await ledgerOf(db.db, campaign)).toEqual({ SENT: people });
  expect(new Set(mailer.recipients).size).toBe(people);
  expect(mailer.recipients).toHaveLength(people);
  const events = await db.db.row<{ count: number; mails: number }>(
    `select count(*)::int as count, count(distinct email_id)::int as mails from events where project_id = $1 and name = 'email.sent'`,
    [project.id],
  );
  expect(events).toEqual({ count: people, mails: people });
  expect(await auditCampaign(db.db, project.id, campaign)).toMatchObject({ addsUp: true, handedOver: people });
}

describe('a worker that dies', () => {
  test('while the audience is frozen: the next attempt goes on where the rows end', async () => {
    await expect(expand(2)).rejects.toThrow('killed');
    expect(await ledgerOf(db.db, campaign)).toEqual({ PENDING: 6 });
    await expand();
    expect(await ledgerOf(db.db, campaign)).toEqual({ PENDING: people });
    await retried();
  });

  test('before its claim commits: anyone claims the rows', async () => {
    await expand();
    await retried();
  });

  test('with a claim, before the provider is called: the provider is asked, then the mail is sent', async () => {
    await expand();
    const claim = await claimed();
    await retried();
    expect(mailer.searches).toContain(claim.id);
  });

  test('after the provider took the mail, before that is written down: it is found there and not sent again', async () => {
    await expand();
    const claim = await claimed();
    await handedOver(claim);
    expect(mailer.sent).toHaveLength(chunk);
    expect(await ledgerOf(db.db, campaign)).toEqual({ PENDING: people });
    await retried();
    expect(mailer.searches).toContain(claim.id);
  });

  test('after the provider took only a part of it: the rest is sent, and the part is not sent again', async () => {
    await expand();
    const claim = await claimed();
    const recipients = await readRecipients(db.db, sendOf(1), claim);
    await mailer.send(claim.id, recipients.slice(0, 2).map(sendOf(1).compose));
    await retried();
  });

  test('after the result is written down: nothing of it is looked at again', async () => {
    await expand();
    const claim = await claimed();
    await worked(deps, claim);
    expect(await ledgerOf(db.db, campaign)).toEqual({ SENT: chunk, PENDING: people - chunk });
    await retried();
    expect(mailer.searches).toEqual([]);
  });

  test('with a claim that was put back before: what the provider took of the second try is found as well', async () => {
    await expand();
    const claim = await claimed();
    mailer.options.outages = 1;
    await worked(deps, claim);
    await db.db.count('update campaign_claims set due_at = now() - make_interval(secs => 1)');
    const again = await retakeClaim(db.db, { ...sendOf(1), holder: `run-${round}/7/1.again` }, 0);
    expect(again).toMatchObject({ id: claim.id, handedMs: null });
    await handedOver(claim);
    await retried();
    expect(mailer.searches).toContain(claim.id);
  });

  test('and is not dead after all, with a call under way: nothing of it is sent again before the call is over', async () => {
    Object.assign(mailer, { longestCallMs: 60_000 });
    await expand();
    const claim = await claimed();
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    mailer.onCall = () => {
      begun.resolve();
      mailer.onCall = () => undefined;
      return ended.promise;
    };
    const stalled = worked(deps, claim);
    await begun.promise;
    const report = await runLane(deps, sendOf(2), { claims: 2, longestMs: 600_000 }, new AbortController().signal);
    expect(report).toMatchObject({ end: 'empty', sent: people - chunk });
    expect(report.waitMs).toBeGreaterThan(50_000);
    ended.resolve();
    await stalled;
    await db.db.count('update campaign_claims set due_at = now() - make_interval(secs => 1)');
    await retried();
  });

  test('and is not dead after all, but stood still before its call: it hands nothing over', async () => {
    await expand();
    const claim = await claimed();
    const rendering = async <T>(work: () => T) => {
      await retried();
      return work();
    };
    const stalled = { ...deps, rendering: rendering as LaneDeps['rendering'] };
    await worked(stalled, claim, 3_000);
    expect(mailer.recipients).toHaveLength(people);
  });

  test('after a call that ended long after its claim, without an answer: the lag of the provider counts from its end', async () => {
    await expand();
    const claim = await claimed();
    await db.db.count(`update campaign_claims set handed_at = now() - interval '2 minutes'`);
    mailer.options.lostCalls = 1;
    await worked({ ...deps, lagMs: 60_000 }, claim);
    const lane = { claims: 2, longestMs: 600_000 };
    const report = await runLane({ ...deps, lagMs: 60_000 }, sendOf(2), lane, new AbortController().signal);
    expect(report.waitMs).toBeGreaterThan(30_000);
    expect(mailer.recipients).toHaveLength(people - chunk);
  });

  test('and is not dead after all: what it writes down late changes nothing', async () => {
    await expand();
    const claim = await claimed();
    await handedOver(claim);
    await retried();
    await worked(deps, claim);
    expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SENT', sent: people });
    expect(mailer.recipients).toHaveLength(people);
  });
});
