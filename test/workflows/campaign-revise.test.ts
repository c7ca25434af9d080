import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wakeCampaign } from '../../src/campaigns/lifecycle/begin.ts';
import { ledgerFile } from '../../src/campaigns/results/recipients-queries.ts';
import { auditCampaign } from '../../src/campaigns/results/results.ts';
import { campaignStats } from '../../src/campaigns/service.ts';
import { lockCampaign, lockCampaignSend, setPaused } from '../../src/campaigns/state.ts';
import type { OutgoingMessage, Verdict } from '../../src/domains/providers/mailer.ts';
import { launchGate } from '../../src/launches/gate.ts';
import { reviseCampaign } from '../../src/launches/revisions/revise.ts';
import { AppError } from '../../src/lib/errors.ts';
import { aCampaign, campaignActivitiesFor, campaignRow, contacts, started } from '../support/campaign-fixtures.ts';
import { reviewDeps } from '../support/campaign-reviews.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject } from '../support/delivery-fixtures.ts';
import { inFull } from '../support/long.ts';
import { FakeMailer, type TakenMessage } from '../support/mailer.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

const rounds = inFull(100, 12);
const roundsTogether = 12;
const people = 30;

/** How the provider treats the mail of one project; absent parts do nothing. */
interface Mood {
  before?: () => Promise<void>;
  after?: () => Promise<void>;
  /** Whether a batch is refused in part for now, so that its claim is put back with a rest that is no end of its range. */
  refuses?: () => boolean;
  /** Whether an answer is lost. */
  drops?: () => boolean;
  /** Whether it cannot be asked what it took. */
  isSilent?: boolean;
}

class MoodyMailer extends FakeMailer {
  readonly moods = new Map<string, Mood>();
  readonly #moodOf = new Map<string, Mood>();

  override async send(claimId: string, messages: readonly OutgoingMessage[]): Promise<Verdict[]> {
    const mood = this.moods.get(messages[0]?.projectId ?? '') ?? {};
    this.#moodOf.set(claimId, mood);
    await mood.before?.();
    const taken = mood.refuses?.() ? messages.filter(() => !mood.refuses?.()) : messages;
    const verdicts = taken.length === 0 ? [] : await super.send(claimId, taken);
    await mood.after?.();
    if (mood.drops?.()) return messages.map(() => ({ kind: 'unknown', reason: 'the answer was lost' }));
    const later = { kind: 'retry', reason: 'try again later', afterMs: null, scope: 'message' } as const;
    return messages.map((message) => verdicts[taken.indexOf(message)] ?? later);
  }

  override async accepted(claimId: string) {
    if (this.#moodOf.get(claimId)?.isSilent) throw new Error('the search does not answer');
    return super.accepted(claimId);
  }
}

let db: TestDatabase;
let mailer: MoodyMailer;
let worker: TestWorker;
beforeAll(async () => {
  db = await testDatabase();
  mailer = new MoodyMailer({ name: 'revised' });
  worker = await aWorker();
});
afterAll(async () => {
  await worker.stop();
  await db.close();
});

const aWorker = (queuePrefix?: string) =>
  testWorker({
    activities: campaignActivitiesFor(db.db, mailer, { lanes: 2, chunk: 5, pace: { claims: 2, longestMs: 5000 } }),
    queues: ['campaign'],
    ...(queuePrefix === undefined ? {} : { queuePrefix }),
  });

/** A campaign of its own project, whose every content names its version. */
async function aRevisable(mood: Mood) {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, people);
  const campaign = await aCampaign(db.db, project, { subject: 'Version 1', body: '<p>Version 1</p>' });
  mailer.moods.set(project.id, mood);
  const start = await started(db.db, project.id, campaign, people);
  return {
    project,
    campaign,
    start,
    pause: (on: boolean) =>
      db.db.transaction(async (tx) => {
        await lockCampaign(tx, project.id, campaign);
        await lockCampaignSend(tx, campaign, 1);
        return setPaused(tx, campaign, 1, on);
      }),
    /** Revises it; answers what is still leaving where that refuses it, and 'sent' where everything had left before the pause. */
    async revise(version: number): Promise<unknown> {
      const deps = { ...reviewDeps(db.db, project), launchGate, iconsUrl: '' };
      const content = { subject: `Version ${version}`, body: `<p>Version ${version}</p>` };
      const named = { id: project.id } as Parameters<typeof reviseCampaign>[1];
      try {
        await reviseCampaign(deps, named, campaign, content, { kind: 'key', scoped: null }, '');
        return 'revised';
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const { details } = error.extra;
        if (error.code === 'STILL_LEAVING') return details;
        if (isDeepStrictEqual(details, { status: 'SENT' })) return 'sent';
        throw error;
      }
    },
    async isPausedOrOver() {
      const row = await db.db.row<{ is: boolean }>(
        `select paused_at is not null or status = 'SENT' as is from campaigns where id = $1`,
        [campaign],
      );
      return row?.is;
    },
    taken: () => mailer.taken.filter(({ message }) => message.projectId === project.id),
  };
}
type Revisable = Awaited<ReturnType<typeof aRevisable>>;

/** Everybody has exactly one message, and the ledger's version of each is the one that the provider took. */
async function checkVersions({ project, campaign, taken }: Revisable, versions: number): Promise<void> {
  const messages = taken();
  expect(messages).toHaveLength(people);
  const atProvider = new Map(messages.map((one: TakenMessage) => [one.message.to.address, one.message]));
  expect(atProvider.size).toBe(people);
  let file = '';
  for await (const text of ledgerFile(db.db, { campaignId: campaign, sendSeq: 1 })) file += text;
  const [header, ...lines] = file.trim().split('\r\n');
  expect(header).toBe('emailId,contactId,email,verdict,reason,messageId,sentAt,version');
  expect(lines).toHaveLength(people);
  for (const line of lines) {
    const [, , email = '', verdict, , , , version] = line.split(',');
    const message = atProvider.get(email);
    expect([verdict, message?.subject]).toEqual(['handed_over', `Version ${version}`]);
    expect(message?.html).toContain(`Version ${version}`);
  }
  const stats = await campaignStats({ db: db.db.session(), provider: mailer.name, launchGate }, project.id, campaign);
  expect(stats.versions.map(({ version, sentCount }) => [version, sentCount])).toEqual(
    Array.from({ length: versions }, (_, index) => [
      index + 1,
      messages.filter(({ message }) => message.subject === `Version ${index + 1}`).length,
    ]),
  );
  const audit = await auditCampaign(db.db, project.id, campaign);
  expect(audit).toMatchObject({ addsUp: true, handedOver: people, hashFormat: 2 });
}

/** The same numbers for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

async function revisedAtRandom(seed: number): Promise<number> {
  const random = seeded(seed);
  let untilPause = 1 + Math.floor(random() * 4);
  const hook = async () => {
    untilPause -= 1;
    if (untilPause === 0) await revisable.pause(true);
  };
  const mood: Mood = { refuses: () => random() < 0.25, drops: () => random() < 0.15 };
  mood[random() < 0.5 ? 'before' : 'after'] = hook;
  const revisable = await aRevisable(mood);
  const { campaign, start } = revisable;
  await worker.perform(start);
  for (let version = 1; ; ) {
    await expect.poll(revisable.isPausedOrOver).toBe(true);
    if ((await campaignRow(db.db, campaign)).status === 'SENT') {
      expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: people });
      await checkVersions(revisable, version);
      return version;
    }
    let outcome: unknown;
    const revise = async () => {
      outcome = await revisable.revise(version + 1);
      return outcome;
    };
    await expect.poll(revise).toBeOneOf(['revised', 'sent']);
    if (outcome === 'sent') continue;
    untilPause = version < 3 ? 1 + Math.floor(random() * 3) : 0;
    await revisable.pause(false);
    await worker.perform(wakeCampaign(campaign, 1));
    version += 1;
  }
}

test(`revised under random pauses, everybody gets exactly one version: ${rounds} campaigns`, async () => {
  const together = pLimit(roundsTogether);
  const seeds = Array.from({ length: rounds }, (_, index) => index + 1);
  const versions = await Promise.all(
    seeds.map((seed) =>
      together(() =>
        revisedAtRandom(seed).catch((error: unknown) => {
          throw new Error(`seed ${seed} failed`, { cause: error });
        }),
      ),
    ),
  );
  // Otherwise the pauses have come too late to say anything.
  expect(Math.max(...versions)).toBeGreaterThan(1);
});

/** A campaign that is paused with a claim of five out, whose answer was lost. */
async function pausedUnconfirmed(mood: Mood): Promise<Revisable> {
  let [isPausing, isLost] = [false, false];
  mood.after = async () => {
    if (isPausing) return;
    isPausing = true;
    await revisable.pause(true);
  };
  // The other lane may be answered while this one pauses.
  mood.drops = () => {
    if (isLost) return false;
    isLost = true;
    return true;
  };
  const revisable = await aRevisable(mood);
  return revisable;
}
const phaseOf = async ({ client }: TestWorker, { start }: Revisable) =>
  (await client.workflow.getHandle(start.id).query<{ phase: string }>('progress')).phase;

test('what left before a pause is looked up while it is paused, and nothing else leaves', async () => {
  const revisable = await pausedUnconfirmed({});
  await worker.perform(revisable.start);
  await expect.poll(() => phaseOf(worker, revisable)).toBe('paused');
  await expect.poll(() => revisable.revise(2)).toBe('revised');
  const early = revisable.taken().length;
  expect(revisable.taken().every(({ message }) => message.subject === 'Version 1')).toBe(true);
  await revisable.pause(false);
  await worker.perform(wakeCampaign(revisable.campaign, 1));
  expect(await worker.result(revisable.start.id)).toMatchObject({ status: 'SENT', sent: people });
  await checkVersions(revisable, 2);
  expect(revisable.taken().filter(({ message }) => message.subject === 'Version 1')).toHaveLength(early);
});

test('a revision waits while the provider cannot be asked, over the end of the worker', async () => {
  const mood: Mood = { isSilent: true };
  const revisable = await pausedUnconfirmed(mood);
  const first = await aWorker();
  await first.perform(revisable.start);
  await expect.poll(() => phaseOf(first, revisable)).toBe('paused');
  expect(await revisable.revise(2)).toMatchObject({ leaving: expect.any(Number) });
  await first.stop();
  const before = revisable.taken().length;
  mood.isSilent = false;
  await using second = await aWorker(first.queuePrefix);
  await expect.poll(() => revisable.revise(2)).toBe('revised');
  expect(revisable.taken()).toHaveLength(before);
  await revisable.pause(false);
  await second.perform(wakeCampaign(revisable.campaign, 1));
  expect(await second.result(revisable.start.id)).toMatchObject({ status: 'SENT', sent: people });
  await checkVersions(revisable, 2);
});

test('a call that is under way keeps the content from being revised', async () => {
  let answer: unknown = null;
  const mood: Mood = {
    async before() {
      if (answer !== null) return;
      answer = 'asked';
      await revisable.pause(true);
      answer = await revisable.revise(2);
    },
  };
  const revisable = await aRevisable(mood);
  await worker.perform(revisable.start);
  await expect.poll(() => revisable.revise(2)).toBe('revised');
  expect(answer).toMatchObject({ leaving: expect.any(Number) });
  await revisable.pause(false);
  await worker.perform(wakeCampaign(revisable.campaign, 1));
  expect(await worker.result(revisable.start.id)).toMatchObject({ status: 'SENT', sent: people });
  await checkVersions(revisable, 2);
});
