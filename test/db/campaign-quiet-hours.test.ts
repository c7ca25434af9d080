import pLimit from 'p-limit';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadExpansion, noteRecipients } from '../../src/campaigns/audience/expansion.ts';
import { expandFrom } from '../../src/campaigns/audience/freeze.ts';
import { claimRanges } from '../../src/campaigns/delivery/claims.ts';
import { cleanUpCancelled, finishSend, rewindClaims, viewSend } from '../../src/campaigns/delivery/completion.ts';
import { followQuietHours, holdRecipients, quietSentence, slotMs } from '../../src/campaigns/delivery/held.ts';
import { type LaneDeps, type LaneSend, runLane } from '../../src/campaigns/delivery/lane.ts';
import { readRecipients } from '../../src/campaigns/delivery/ledger.ts';
import { recoverableCampaigns } from '../../src/campaigns/lifecycle/recovery.ts';
import { verdictSql } from '../../src/campaigns/results/verdicts.ts';
import { cancelSend, hasDeparted, openSend, setPaused } from '../../src/campaigns/state.ts';
import { advanceCanary } from '../../src/launches/canary/advance.ts';
import { chooseCanary, continueFromCanary, setCanary } from '../../src/launches/canary/choose.ts';
import { launchGate } from '../../src/launches/gate.ts';
import { splitClaims } from '../../src/launches/revisions/revise.ts';
import { systemClock } from '../../src/lib/time.ts';
import { spreadMs } from '../../src/mail/emails/schedule.ts';
import { bucketMade } from '../../src/mail/engine/throttle.ts';
import { deliverPending } from '../../src/mail/queue/deliver.ts';
import type { QuietHours } from '../../src/projects/schema.ts';
import { aCampaign, campaignRow, ledgerOf } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, deliveryDeps, queueMany, type TestProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { around } from '../support/quiet-hours.ts';

let database: TestDatabase;
let project: TestProject;
let campaign: string;
let mailer: FakeMailer;
let deps: LaneDeps;
let round = 0;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  round += 1;
  project = await aProject(database.db);
  campaign = await aCampaign(database.db, project);
  mailer = new FakeMailer({ name: `quiet-${round}` });
  const [statements, claiming, rendering] = [pLimit(6), pLimit(1), pLimit(1)];
  deps = {
    db: database.db,
    mailer,
    statements,
    claiming,
    rendering,
    log: pino({ level: 'silent' }),
    rate: 0,
    lagMs: 0,
  };
});

const hourMs = 3_600_000;
const setHours = (hours: QuietHours | null) =>
  database.db.count('update projects set quiet_hours = $2 where id = $1', [project.id, hours && JSON.stringify(hours)]);

/** Contacts of three zones: those of UTC are in quiet hours, those of the others are not. */
async function people(each: Record<string, number>): Promise<void> {
  for (const [zone, count] of Object.entries(each))
    for (let n = 0; n < count; n += 1)
      await aContact(database.db, project.id, `${zone.replace('/', '-').toLowerCase()}-${n}@example.com`, {
        data: { timezone: zone },
      });
}

const sendOf = (attempt = 1, changes: Partial<LaneSend> = {}): LaneSend => ({
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
  size: 4,
  holder: `run-${round}/7/${attempt}`,
  prefix: `run-${round}/7/`,
  ...changes,
});

/** Begins the send and freezes its audience. */
async function begun(): Promise<void> {
  await openSend(database.db, campaign, 10, null);
  await bucketMade(database.db, project.id);
  const send = await loadExpansion(database.db, campaign, 1);
  if (send === null) throw new Error('The send is gone');
  const billing = { freeTier: null, publicDailyEmails: null };
  const cursors = pLimit(1);
  const { db } = database;
  await expandFrom({ db, billing, clock: systemClock, launchGate, cursors, expansionPage: 100 }, send, () => undefined);
  await noteRecipients(db, campaign, 1);
}
let attempts = 0;
/** A lane that works until nothing is left, as an activity of its own. */
function lane(changes: Partial<LaneSend> = {}) {
  attempts += 1;
  const own = { holder: `run-${round}/${attempts}/1`, prefix: `run-${round}/${attempts}/` };
  return runLane(
    deps,
    sendOf(1, { ...own, ...changes }),
    { claims: 2, longestMs: 600_000 },
    new AbortController().signal,
  );
}
/** A lane whose provider refuses everything, so that its claims are put back. */
async function refused(): Promise<void> {
  Object.assign(mailer.options, { outages: 100, outage: 401 });
  expect((await lane()).end).toBe('held');
  mailer.options.outages = 0;
  await database.db.count('delete from provider_holds where provider = $1', [mailer.name]);
}
const held = () =>
  database.db.rows<{ email: string; due: number; until: number; contact: string }>(
    `select e.to_address as email, h.contact_id as contact, (1000 * extract(epoch from h.due_at))::float8 as due,
       (1000 * extract(epoch from e.held_until))::float8 as until
     from campaign_held_contacts h join emails e using (campaign_id, send_seq, contact_id) where h.campaign_id = $1 order by 1`,
    [campaign],
  );
const due = (limit: number | null = null) =>
  database.db.count(
    `update campaign_held_contacts set due_at = now() - interval '1 second' where campaign_id = $1 and contact_id in (
       select contact_id from campaign_held_contacts where campaign_id = $1 order by contact_id limit $2)`,
    [campaign, limit],
  );
const verdicts = async () =>
  Object.fromEntries(
    (
      await database.db.rows<{ verdict: string; count: number }>(
        `select ${verdictSql('e')} as verdict, count(*)::int as count from emails e where campaign_id = $1 group by 1`,
        [campaign],
      )
    ).map(({ verdict, count }) => [verdict, count]),
  );
const nobodyTwice = () => expect(new Set(mailer.recipients).size).toBe(mailer.recipients.length);

/** Changes the hours as their setting does; answers the executions that are woken once what waits was asked again. */
async function changed(
  hours: QuietHours | null,
  timeZone: string | null = null,
  stop: { aborted: boolean } = { aborted: false },
) {
  await setHours(hours);
  await database.db.count('update projects set time_zone = $2, quiet_changed_at = clock_timestamp() where id = $1', [
    project.id,
    timeZone,
  ]);
  return followed(stop);
}
async function followed(stop: { aborted: boolean } = { aborted: false }): Promise<string[]> {
  const woken: string[] = [];
  const outbox = {
    dispatchSoon: (...tickets: { workflowId: string }[]) => void woken.push(...tickets.map((one) => one.workflowId)),
  };
  await followQuietHours({ db: database.db, outbox, stop: stop as AbortSignal });
  return woken;
}
/** Tokens that come back by time alone would be counted too. */
const readContacts = async () =>
  (await database.db.rows<{ id: string }>('select id from contacts where project_id = $1', [project.id])).map(
    ({ id }) => id,
  );

async function aStillBucket(tokens: number): Promise<() => Promise<number | undefined>> {
  await database.db.count(`create or replace function still() returns trigger language plpgsql as
    $$ begin new.refilled_at := '2100-01-01'; return new; end $$`);
  await database.db.count(
    'create or replace trigger still before update on send_buckets for each row execute function still()',
  );
  await bucketMade(database.db, project.id);
  await database.db.count('update projects set send_rate = 100 where id = $1', [project.id]);
  await database.db.count('update send_buckets set tokens = $2 where id = $1', [project.id, tokens]);
  return async () =>
    (await database.db.row<{ tokens: number }>('select tokens from send_buckets where id = $1', [project.id]))?.tokens;
}

describe('a campaign in quiet hours', () => {
  test('goes to everyone else at once, holds the rest until after the hours, and is sent when the last has it', async () => {
    const { hours, end } = around();
    await setHours(hours);
    await people({ UTC: 7, 'Asia/Tokyo': 5, 'Pacific/Kiritimati': 3 });
    await begun();
    const report = await lane();
    expect(report).toMatchObject({ end: 'empty', sent: 8, skipped: 0, failed: 0 });
    expect(report.waitMs).toBeGreaterThan(hourMs - 120_000);
    expect(mailer.recipients.filter((to) => to.startsWith('utc'))).toEqual([]);
    const waiting = await held();
    expect(waiting.map(({ email }) => email)).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `utc-${n}@example.com`));
    for (const { due: at, until } of waiting) {
      expect(at).toBe(until);
      expect(at).toBeGreaterThanOrEqual(end);
      expect(at).toBeLessThan(end + spreadMs);
      expect(at % slotMs).toBe(0);
    }
    expect(await verdicts()).toEqual({ handed_over: 8, pending: 7 });
    const first = new Date(Math.min(...waiting.map(({ due: at }) => at))).toISOString();
    const view = await viewSend(database.db, campaign, 1);
    expect(view?.held).toMatchObject({ contacts: 7, until: first });
    expect(quietSentence({ contacts: 7, until: first })).toBe(`On hold until ${first} for 7 contacts (quiet hours)`);
    // Nobody else is claimed, and nothing is looked through again.
    expect(await finishSend(database.db, campaign, 1)).toBe(false);
    expect(await lane()).toMatchObject({ end: 'empty', sent: 0 });
    await setHours(null);
    await due();
    expect(await lane()).toMatchObject({ end: 'empty', sent: 7, waitMs: null });
    nobodyTwice();
    expect(await held()).toEqual([]);
    expect(await finishSend(database.db, campaign, 1)).toBe(true);
    expect(await campaignRow(database.db, campaign)).toMatchObject({ status: 'SENT', total: 15, sent: 15, failed: 0 });
  });

  test('holds again whoever is in new hours, and skips whoever has unsubscribed meanwhile', async () => {
    await setHours(around().hours);
    await people({ UTC: 6 });
    await begun();
    await lane();
    await database.db.count(
      `update contacts set subscribed = false where project_id = $1 and email = 'utc-0@example.com'`,
      [project.id],
    );
    await due();
    expect(await lane()).toMatchObject({ sent: 0, skipped: 1 });
    expect((await held()).every(({ due: at }) => at > Date.now())).toBe(true);
    expect(await held()).toHaveLength(5);
    await setHours(null);
    await due();
    expect(await lane()).toMatchObject({ sent: 5 });
    nobodyTwice();
    expect(await finishSend(database.db, campaign, 1)).toBe(true);
    expect(await campaignRow(database.db, campaign)).toMatchObject({ total: 6, sent: 5, skipped: 1 });
  });

  test('does not hold transactional campaigns', async () => {
    await setHours(around().hours);
    await people({ UTC: 2 });
    await begun();
    expect(await lane({ messageClass: 'TRANSACTIONAL', needsSubscription: false })).toMatchObject({ sent: 2 });
  });

  test('is a draft again when it is canceled before anybody has it, and has failed for the held ones otherwise', async () => {
    await setHours(around().hours);
    await people({ UTC: 5 });
    await begun();
    await lane();
    expect(await hasDeparted(database.db, campaign, 1)).toBe(false);
    await cancelSend(database.db, campaign, 1);
    await due();
    await setHours(null);
    expect(await lane()).toMatchObject({ end: 'stopped', sent: 0 });
    expect(await cleanUpCancelled(deps, sendOf(3), () => undefined)).toEqual({ done: true, status: 'DRAFT' });
    expect([await held(), mailer.recipients, await ledgerOf(database.db, campaign)]).toEqual([[], [], {}]);

    await setHours(around().hours);
    campaign = await aCampaign(database.db, project);
    await people({ 'Asia/Tokyo': 2 });
    await begun();
    await lane();
    await cancelSend(database.db, campaign, 1);
    expect(await cleanUpCancelled(deps, sendOf(4), () => undefined)).toEqual({ done: true, status: 'CANCELLED' });
    expect(await held()).toEqual([]);
    expect(await ledgerOf(database.db, campaign)).toEqual({ SENT: 2, 'FAILED: Campaign cancelled': 5 });
    expect(await campaignRow(database.db, campaign)).toMatchObject({ total: 7, sent: 2, skipped: 5 });
  });

  test('sends nothing while it is paused, and goes on once it is resumed', async () => {
    await setHours(around().hours);
    await people({ UTC: 5 });
    await begun();
    await lane();
    await setPaused(database.db, campaign, 1, true);
    await setHours(null);
    await due();
    expect(await lane()).toMatchObject({ end: 'paused', sent: 0 });
    expect(await held()).toHaveLength(5);
    await setPaused(database.db, campaign, 1, false);
    expect(await lane()).toMatchObject({ sent: 5 });
    nobodyTwice();
  });

  test('is sent once to each after a worker died with a claim of held contacts, before and after the provider took it', async () => {
    await setHours(around().hours);
    await people({ UTC: 8 });
    await begun();
    await lane();
    await setHours(null);
    await due();
    const { holder, prefix, size } = sendOf(1, { holder: `dead-${round}/1`, prefix: `dead-${round}/` });
    const limits = { ...sendOf(), size, rate: 0, provider: mailer.name, probing: false };
    const { claims } = await claimRanges(database.db, limits, [`${holder}.1`, `${holder}.2`], holder);
    expect(claims.map(({ contacts }) => contacts?.length)).toEqual([4, 4]);
    const [first] = claims;
    if (first === undefined) throw new Error('Nothing was claimed');
    const taken = await readRecipients(database.db, sendOf(), first);
    expect(taken).toHaveLength(4);
    expect(await verdicts()).toEqual({ unknown: 8 });
    await mailer.send(first.id, taken.map(sendOf().compose));
    expect(await lane()).toMatchObject({ sent: 0 });
    expect(await lane({ holder: `dead-${round}/2`, prefix })).toMatchObject({ sent: 8 });
    nobodyTwice();
    expect(mailer.recipients).toHaveLength(8);
    expect(await finishSend(database.db, campaign, 1)).toBe(true);
  });

  test('lets go of whoever is held again in a claim that was put back, so that no two claims have them', async () => {
    await setHours(around().hours);
    await people({ UTC: 4 });
    await begun();
    await lane();
    await setHours(null);
    await due();
    await refused();
    const [claim] = await database.db.rows<{ id: string; contacts: string[] }>(
      'select id, contacts from campaign_claims where campaign_id = $1 and not settled',
      [campaign],
    );
    expect(claim?.contacts).toHaveLength(4);
    await setHours(around().hours);
    await database.db.count(`update contacts set data = '{"timezone": "Asia/Tokyo"}' where id = $1`, [
      claim?.contacts[0],
    ]);
    await database.db.count(`update campaign_claims set due_at = now() - interval '1 second' where campaign_id = $1`, [
      campaign,
    ]);
    // It stays open for the one who is not, whom the provider refuses again.
    await refused();
    expect(await held()).toHaveLength(3);
    const left = await database.db.rows('select contacts from campaign_claims where campaign_id = $1 and not settled', [
      campaign,
    ]);
    expect(left).toEqual([{ contacts: claim?.contacts.slice(0, 1) }]);
    await setHours(null);
    await due();
    await database.db.count(`update campaign_claims set due_at = now() - interval '1 second' where campaign_id = $1`, [
      campaign,
    ]);
    expect(await lane()).toMatchObject({ sent: 4 });
    nobodyTwice();
    expect(await finishSend(database.db, campaign, 1)).toBe(true);
  });

  test('keeps whoever is held out of a range that was put back for others', async () => {
    await setHours(around().hours);
    await people({ UTC: 2, 'Asia/Tokyo': 2 });
    await begun();
    await refused();
    expect(mailer.recipients).toEqual([]);
    expect(await held()).toHaveLength(2);
    await setHours(null);
    await due();
    await database.db.count(`update campaign_claims set due_at = now() - interval '1 second' where campaign_id = $1`, [
      campaign,
    ]);
    expect(await lane()).toMatchObject({ sent: 4 });
    nobodyTwice();
  });

  test('is revised for the held ones too', async () => {
    await setHours(around().hours);
    await people({ UTC: 5 });
    await begun();
    await lane();
    await setHours(null);
    await due();
    await refused();
    await setPaused(database.db, campaign, 1, true);
    const revised = { id: campaign, sendSeq: 1 } as Parameters<typeof splitClaims>[1];
    expect(await splitClaims(database.db, revised, 2)).toBe(0);
    await database.db.count('update campaigns set content_version = 2 where id = $1', [campaign]);
    await database.db.count(`update campaign_claims set due_at = now() - interval '1 second' where campaign_id = $1`, [
      campaign,
    ]);
    await setPaused(database.db, campaign, 1, false);
    expect(await lane({ version: 2 })).toMatchObject({ sent: 5 });
    nobodyTwice();
    expect(
      await database.db.row(
        'select count(*)::int as count from emails where campaign_id = $1 and content_version = 2',
        [campaign],
      ),
    ).toEqual({ count: 5 });
  });

  test('spends the rate limit on whom it hands over, and waits for it after the hours', async () => {
    await setHours(around().hours);
    await people({ UTC: 12 });
    await begun();
    await lane();
    await setHours(null);
    await due();
    await database.db.count('update projects set send_rate = 4 where id = $1', [project.id]);
    await database.db.count('update send_buckets set tokens = 0, refilled_at = clock_timestamp() where id = $1', [
      project.id,
    ]);
    const { holder } = sendOf();
    const limits = { ...sendOf(), rate: 4, provider: mailer.name, probing: false };
    const none = await claimRanges(database.db, limits, [`${holder}.1`], holder);
    expect(none.claims).toEqual([]);
    expect(none.throttleMs).toBeGreaterThan(0);
    expect(await held()).toHaveLength(12);
  });

  test('finds whoever was lost between a hold and a claim', async () => {
    await setHours(around().hours);
    await people({ UTC: 3 });
    await begun();
    await lane();
    await setHours(null);
    await database.db.count('delete from campaign_held_contacts where campaign_id = $1', [campaign]);
    expect(await lane()).toMatchObject({ sent: 0 });
    expect(await finishSend(database.db, campaign, 1)).toBe(false);
    await rewindClaims(database.db, campaign, 1);
    expect(await lane()).toMatchObject({ sent: 3 });
    expect(await finishSend(database.db, campaign, 1)).toBe(true);
  });

  test('holds up neither another campaign nor the queue of its project', async () => {
    await setHours(around().hours);
    await people({ UTC: 9 });
    await begun();
    await lane();
    const [quiet, watched] = [campaign, project];
    const receipts = await queueMany(database.db, project, 3);
    const run = { projectId: watched.id, prefix: `q${round}/`, attempt: 1, stop: new AbortController().signal };
    await deliverPending(deliveryDeps(database.db, mailer), run, { claims: 2, lingerMs: 0, longestMs: 600_000 });
    expect([...mailer.recipients].sort()).toEqual([...receipts].sort());
    project = await aProject(database.db);
    campaign = await aCampaign(database.db, project);
    await people({ UTC: 4 });
    await begun();
    expect(await lane()).toMatchObject({ sent: 4 });
    expect(await database.db.count('select from campaign_held_contacts where campaign_id = $1', [quiet])).toBe(9);
  });

  test('rests while it waits, and is woken once it is a minute late', async () => {
    await setHours(around().hours);
    await people({ UTC: 2 });
    await begun();
    await lane();
    await database.db.count(`update campaigns set updated_at = now() - interval '1 hour' where id = $1`, [campaign]);
    await database.db.count(`update campaign_sends set updated_at = now() - interval '1 hour' where campaign_id = $1`, [
      campaign,
    ]);
    const place = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };
    const own = async () =>
      (await recoverableCampaigns.stalled(database.db, { afterMs: 300_000, changedAt: null, place, limit: 500 })).find(
        ({ id }) => id === campaign,
      );
    expect((await own())?.wake).toBe(null);
    await database.db.count(
      `update campaign_held_contacts set due_at = now() - interval '2 minutes' where campaign_id = $1`,
      [campaign],
    );
    expect((await own())?.wake).not.toBe(null);
  });

  test('waits with its canary for members in quiet hours, unless a person lets everybody else follow', async () => {
    await setHours(around().hours);
    await people({ UTC: 6 });
    await openSend(database.db, campaign, 6, null);
    await setCanary(database.db.session(), campaign, 1, {
      recipients: 3,
      hold: '1h',
      stopIf: { bounceRate: 10 },
      minDelivered: 1,
    });
    await bucketMade(database.db, project.id);
    const send = await loadExpansion(database.db, campaign, 1);
    if (send === null) throw new Error('The send is gone');
    const billing = { freeTier: null, publicDailyEmails: null };
    const expansion = {
      db: database.db,
      billing,
      clock: systemClock,
      launchGate,
      cursors: pLimit(1),
      expansionPage: 100,
    };
    await expandFrom(expansion, send, () => undefined);
    await noteRecipients(database.db, campaign, 1);
    await chooseCanary(database.db, campaign, 1);
    const canaryDeps = { db: database.db, tell: async () => [], dispatchSoon: () => undefined };
    const step = () => advanceCanary(canaryDeps, campaign, 1);
    expect(await step()).toMatchObject({ next: 'send' });
    await lane({ canary: true });
    expect(await held()).toHaveLength(3);
    const waits = await step();
    expect(waits).toMatchObject({ next: 'hold', detail: expect.stringContaining('for 3 contacts (quiet hours)') });
    expect(waits.waitMs).toBeGreaterThan(hourMs - 120_000);
    await continueFromCanary(database.db, project.id, campaign);
    expect(await step()).toMatchObject({ next: 'over' });
    await lane();
    expect(await held()).toHaveLength(6);
    await setHours(null);
    await due();
    expect(await lane()).toMatchObject({ sent: 6 });
    nobodyTwice();
    expect(await finishSend(database.db, campaign, 1)).toBe(true);
  });

  test('whoever is held waits for a claim that is being made without the bucket that the claim takes from', async () => {
    await aStillBucket(200);
    await setHours(around().hours);
    await people({ UTC: 2 });
    await begun();
    const { holder } = sendOf(1, { holder: `waits-${round}` });
    const limits = { ...sendOf(), size: 2, rate: 0, provider: mailer.name, probing: false };
    const { claims } = await claimRanges(database.db, limits, [`${holder}.1`], holder);
    const contacts = claims.flatMap((each) => each.contacts ?? []);
    const ids = contacts.length > 0 ? contacts : (await readContacts()).slice(0, 1);
    let holding: Promise<void> = Promise.resolve();
    await database.db.transaction(async (tx) => {
      await tx.rows('select from campaign_sends where campaign_id = $1 for update', [campaign]);
      const held = ids.map((contactId) => ({ contactId, until: Date.now() + hourMs }));
      holding = holdRecipients(database.db, sendOf(), held, { id: `${holder}.1`, holder, rate: 0 });
      await expect
        .poll(() =>
          database.db.rows(
            `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          ),
        )
        .toHaveLength(1);
      await tx.rows('select from send_buckets where id = $1 for update nowait', [project.id]);
    });
    await holding;
  });

  test('takes one from the rate limit for each message, and nothing for whoever is held', async () => {
    const tokens = await aStillBucket(200);
    await setHours(around().hours);
    await people({ UTC: 12, 'Asia/Tokyo': 5 });
    await begun();
    expect(await lane()).toMatchObject({ sent: 5 });
    expect(await held()).toHaveLength(12);
    expect(await tokens()).toBe(195);
    await due();
    await lane();
    expect(await held()).toHaveLength(12);
    expect(await tokens()).toBe(195);
    await setHours(null);
    await due();
    const { holder } = sendOf(1, { holder: `twice-${round}` });
    const limits = { ...sendOf(), size: 2, rate: 0, provider: mailer.name, probing: false };
    const { claims } = await claimRanges(database.db, limits, [`${holder}.1`], holder);
    expect(await tokens()).toBe(193);
    const again = claims.flatMap(({ contacts }) => contacts ?? []).map((contactId) => ({ contactId, until: 0 }));
    for (const _ of ['first', 'its answer was lost'])
      await holdRecipients(database.db, sendOf(), again, { id: `${holder}.1`, holder, rate: 0 });
    expect(await tokens()).toBe(195);
    await database.db.count('update campaign_claims set settled = true where campaign_id = $1', [campaign]);
    expect(await lane()).toMatchObject({ sent: 12 });
    nobodyTwice();
    expect(await tokens()).toBe(183);
  });
});

describe('when quiet hours change while contacts are held', () => {
  const aNight = async (each: Record<string, number> = { UTC: 7 }) => {
    await setHours(around().hours);
    await people(each);
    await begun();
    await lane({ size: 500 });
  };
  const mark = () =>
    database.db.row<{ at: Date | null }>('select quiet_changed_at as at from projects where id = $1', [project.id]);

  test('they get the campaign within ten minutes where the hours are switched off, and its execution is woken', async () => {
    await aNight();
    const before = Date.now();
    expect(await changed(null)).toEqual([`campaign/${campaign}/1`]);
    expect(await mark()).toEqual({ at: null });
    const waiting = await held();
    expect(waiting).toHaveLength(7);
    for (const { due: at, until } of waiting) {
      expect([at % slotMs, until]).toEqual([0, at]);
      expect(at).toBeGreaterThanOrEqual(before - slotMs);
      expect(at).toBeLessThan(Date.now() + spreadMs);
    }
    expect(new Set(waiting.map(({ due: at }) => at)).size).toBeGreaterThan(1);
    expect(await followed()).toEqual([]);
    await due();
    expect(await lane()).toMatchObject({ sent: 7 });
    nobodyTwice();
    expect(await finishSend(database.db, campaign, 1)).toBe(true);
  });

  test('they wait until the new end where the hours are shortened, or the time zone of the project is another', async () => {
    await aNight({ UTC: 3 });
    const shorter = around(hourMs / 2);
    await changed(shorter.hours);
    for (const { due: at } of await held()) {
      expect(at).toBeGreaterThanOrEqual(shorter.end);
      expect(at).toBeLessThan(shorter.end + spreadMs);
    }
    await database.db.count(`update contacts set data = '{}' where project_id = $1 and email = 'utc-0@example.com'`, [
      project.id,
    ]);
    await changed(shorter.hours, 'Asia/Tokyo');
    const [moved, ...rest] = await held();
    expect(moved?.due).toBeLessThan(Date.now() + spreadMs);
    expect(rest.every(({ due: at }) => at >= shorter.end)).toBe(true);
  });

  test('nobody gets it within the new hours where these are longer', async () => {
    await aNight({ UTC: 4 });
    const longer = around(3 * hourMs);
    await changed(longer.hours);
    const waiting = await held();
    for (const { due: at, until } of waiting) {
      expect(at).toBe(until);
      expect(at).toBeGreaterThanOrEqual(longer.end);
    }
    // Not even where nobody has moved them yet.
    await due();
    expect(await lane()).toMatchObject({ sent: 0 });
    expect(await held()).toEqual(waiting);
  });

  test('all of them are moved page by page, and again from the first where a worker died between two', async () => {
    await setHours(around().hours);
    await database.db.count(
      `insert into contacts (id, project_id, email, subscribed, data) select uuidv7(), $1, 'p' || n || '@example.com', true, '{"timezone": "UTC"}' from generate_series(1, 1100) n`,
      [project.id],
    );
    await begun();
    await lane({ size: 500 });
    expect(await held()).toHaveLength(1100);
    let asked = 0;
    const diesAfterOne = {
      get aborted() {
        return ++asked > 1;
      },
    };
    expect(await changed(null, null, diesAfterOne)).toEqual([]);
    const late = async () => (await held()).filter(({ due: at }) => at > Date.now() + spreadMs).length;
    expect(await late()).toBe(100);
    expect((await mark())?.at).not.toBe(null);
    expect(await followed()).toEqual([`campaign/${campaign}/1`]);
    expect([await late(), await mark()]).toEqual([0, { at: null }]);
    await due();
    expect(await lane({ size: 500 })).toMatchObject({ sent: 1100 });
    nobodyTwice();
  });

  test('contacts that were deleted while they were held keep nobody behind them where they are', async () => {
    await aNight({ UTC: 2 });
    await database.db.count(
      `insert into campaign_held_contacts select $1, 1, uuidv7(), now() + interval '1 minute' from generate_series(1, 1000)`,
      [campaign],
    );
    await changed(null);
    for (const { due: at } of await held()) expect(at).toBeLessThan(Date.now() + spreadMs);
  });

  test('whoever is held meanwhile by the hours of before is asked again as well', async () => {
    await setHours(around().hours);
    await people({ UTC: 3, 'Asia/Tokyo': 1 });
    await begun();
    const meanwhile: unknown[] = [];
    // The claim has read the hours, and settles after everybody else was moved.
    mailer.onCall = async () => {
      await changed(null);
      meanwhile.push(await held(), await mark());
    };
    expect(await lane()).toMatchObject({ sent: 1 });
    expect(meanwhile).toEqual([[], { at: null }]);
    expect((await held()).filter(({ due: at }) => at > Date.now() + spreadMs)).not.toEqual([]);
    expect(await followed()).toEqual([`campaign/${campaign}/1`]);
    for (const { due: at } of await held()) expect(at).toBeLessThan(Date.now() + spreadMs);
    expect([(await held()).length, await mark()]).toEqual([3, { at: null }]);
  });

  test('nobody is held once more whom a claim has, nor moved who is due already or of another project', async () => {
    await aNight({ UTC: 6 });
    await setHours(null);
    await due(5);
    const { holder } = sendOf();
    const limits = { ...sendOf(), rate: 0, provider: mailer.name, probing: false };
    const { claims } = await claimRanges(database.db, limits, [`${holder}.1`], holder);
    const claimed = claims.flatMap(({ contacts }) => contacts ?? []);
    expect(claimed).toHaveLength(4);
    // As where the claim comes between reading and writing.
    await holdRecipients(
      database.db,
      sendOf(),
      claimed.map((contactId) => ({ contactId, until: Date.now() })),
      null,
    );
    const [other, others] = [project, campaign];
    project = await aProject(database.db);
    campaign = await aCampaign(database.db, project);
    await aNight({ UTC: 2 });
    const waiting = await held();
    [project, campaign] = [other, others];
    await changed(around(3 * hourMs).hours);
    expect((await held()).map(({ due: at }) => at < Date.now()).toSorted()).toEqual([false, true]);
    expect(
      await database.db.rows(
        'select (1000 * extract(epoch from due_at))::float8 as due from campaign_held_contacts where contact_id = any($1)',
        [waiting.map(({ contact }) => contact)],
      ),
    ).toEqual(expect.arrayContaining(waiting.map(({ due: at }) => ({ due: at }))));
  });
});
