import { raw } from '@mikro-orm/core';
import type { BillingSettings } from '../../billing/service.ts';
import { ContactDataError } from '../../contacts/limits.ts';
import { writeContact, writingAs } from '../../contacts/write.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { activeStatuses } from '../../lib/enums.ts';
import { isoInstant } from '../../store/columns.ts';
import { type Database, withSavepoint } from '../../store/sql.ts';
import { AutomationGoal, AutomationRun } from '../entity.ts';
import { type Exits, endsOf } from '../graph/exits.ts';
import { turnAfter, turnsPerSecond } from '../graph/wait-until.ts';
import { pinnedVersion } from '../versions.ts';
import { decideCondition, type StepContact, type TreeScope, treesHold } from './condition.ts';
import { type Directive, StepFailure } from './directive.ts';
import { eventOf } from './goals.ts';
import { limitOf, mailKind, sendStepMail, templateOf } from './mail-step.ts';
import { dueOf, type MailQuota, QuotaNeeded, type QuotaRequest, reserveMailQuota, waitsStill } from './quota.ts';
import {
  alreadySent,
  awaitedEvent,
  elapsedMs,
  type LockedRun,
  lastTurn,
  lockContactOf,
  lockOpenStepRun,
  lockRun,
  lockUsageOf,
  resumingEvent,
  type StepRun,
  saveRun,
} from './run-queries.ts';
import { configOf, type Effects, type RunFacts, recipientOf, type StepUpdate, type WalkChanges } from './steps.ts';
import { ExitMet, walk } from './walk.ts';

/** The dependencies of advancing runs. */
export interface AdvanceDeps {
  db: Database;
  billing: BillingSettings;
  /** Says that a project has mail in its queue; called after the commit. */
  wake(projectId: string): void;
  /** Gives contacts who wait for one instant their turns; those of the process when absent. */
  turns?: Turns;
}

// Longer than a transaction takes on a machine that is behind. One that fails leaves out its turn, and no more.
const uncommittedMs = 30_000;
const mostGiven = 1_000;

/**
 * Gives contacts who wait for one instant their turns, one for each process. Transactions do not see what others have not committed, and a worker makes many
 * at the same time: so what this process gave within the last moments counts too. A turn of another process may be given once more, at most to as many
 * contacts as there are processes, which is what these can take. A counter or a lock for all of them would let the contacts of a project wait for each other.
 */
export class Turns {
  readonly #perSecond: number;
  /** The latest turn by the project and the instant, and when it was given; the latest ones stand last. */
  readonly #given = new Map<string, { ms: number; at: number }>();

  constructor(perSecond = turnsPerSecond) {
    this.#perSecond = perSecond;
  }

  /** Returns how long after an instant it is the turn of a run's contact, in milliseconds: after those of its project who wait for it. */
  async take(tx: Database, { projectId, contactId }: LockedRun, until: string): Promise<number> {
    const committed = await lastTurn(tx, projectId, until);
    const key = `${projectId} ${until}`;
    const at = performance.now();
    const before = this.#given.get(key);
    const open = before !== undefined && at - before.at < uncommittedMs ? before.ms : null;
    const last = committed === null || open === null ? (committed ?? open) : Math.max(committed, open);
    const turn = turnAfter(last, Date.parse(until), contactId, this.#perSecond);
    this.#given.delete(key);
    this.#given.set(key, { ms: Math.max(turn, last ?? 0), at });
    const [oldest] = this.#given.size > mostGiven ? this.#given.keys() : [];
    if (oldest !== undefined) this.#given.delete(oldest);
    return turn;
  }
}

const turnsOfProcess = new Turns();

interface Advanced {
  directive: Directive;
  /** The project whose delivery is to be woken, or null. */
  mailFor: string | null;
}

// Each step of one transaction may ask for quota once; beyond that others move the run at the same time.
const mostAttempts = 60;

/**
 * Moves a run on, in one transaction, as far as it goes without waiting, and answers what its execution does next (
 * docs/contract/campaigns-and-workflows.md#4-6). `seq` is what the last directive said; null stands for what the row says. May be
 * repeated: a number that the run has left behind changes nothing and answers what the run waits for now.
 */
export async function advance(deps: AdvanceDeps, runId: string, seq: number | null): Promise<Directive> {
  let requests: QuotaRequest[] = [];
  let holdsUsage = false;
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    try {
      const { directive, mailFor } = await deps.db.transaction((tx) =>
        move(deps, tx, runId, seq, { requests, holdsUsage }),
      );
      if (mailFor !== null) deps.wake(mailFor);
      return directive;
    } catch (error) {
      if (error instanceof QuotaNeeded) requests = [...requests, error.request];
      else if (error instanceof QuotaLeft) requests = [];
      else if (error instanceof ExitMet) holdsUsage = true;
      else throw error;
    }
  }
  throw new Error(`The run ${runId} changes faster than it can be moved on`);
}

// Quota was reserved that the transaction did not use: it is rolled back.
class QuotaLeft extends Error {}

async function move(
  deps: AdvanceDeps,
  tx: Database,
  runId: string,
  seq: number | null,
  { requests, holdsUsage }: { requests: readonly QuotaRequest[]; holdsUsage: boolean },
): Promise<Advanced> {
  if (holdsUsage) await lockUsageOf(tx, runId);
  const quota = await reserveMailQuota(tx, deps.billing, requests);
  const contact = await lockContactOf(tx, runId);
  const run = await lockRun(tx, runId);
  if (run === null || contact === null) {
    if (!quota.isUsedUp()) throw new QuotaLeft();
    return { directive: { next: 'done', seq: seq ?? 0, status: 'GONE', reason: null, stepId: null }, mailFor: null };
  }
  const open = run.seq === 0 ? null : await lockOpenStepRun(tx, run.id, run.seq);
  const mayAct = seq === null || seq === run.seq;
  const isTested = mayAct && activeStatuses.has(run.status) && !run.project.disabled;
  const exit = isTested ? await testExits(tx, run, open) : null;
  if (open !== null && isTested && exit === null) await testAwaited(tx, run, open);
  const { directive, hasMail } = await walk(
    { run, contact, effects: effectsOn(tx, quota, deps), holdsUsage },
    open,
    mayAct,
    exit,
  );
  if (!quota.isUsedUp()) throw new QuotaLeft();
  return { directive, mailFor: hasMail ? run.projectId : null };
}

// The first event that ends the run, of those that came since its exits were tested. A webhook that is being called is not cut off.
async function testExits(tx: Database, run: LockedRun, open: StepRun | null): Promise<Exits[number] | null> {
  const { id, projectId, versionId, exitEventId } = run;
  if (exitEventId === null || (open?.stepType === 'WEBHOOK' && waitsStill(open, run.now))) return null;
  const version = await pinnedVersion(tx, versionId);
  let first: { exit: Exits[number]; eventId: string } | null = null;
  for (const exit of endsOf(version?.graph.steps ?? [], elapsedMs(run))) {
    const awaited = await eventOf(tx, projectId, exit.on);
    const eventId =
      awaited && (await awaitedEvent(tx, run, { ...awaited, since: { eventId: exitEventId }, wait: null }));
    if (eventId !== null && (first === null || eventId < first.eventId)) first = { exit, eventId };
  }
  if (first !== null) return first.exit;
  // The event made the run due. One that waits on is due as its step says; any other still is.
  const waits = open !== null && waitsStill(open, run.now);
  Object.assign(run, { exitEventId: null, ...(waits && { dueAt: dueOf(open, run.now) }) });
  const dueAt = run.dueAt === null ? null : new Date(run.dueAt);
  await tx.em.nativeUpdate(AutomationRun, { id }, { exitEventId: null, dueAt });
  return null;
}

// Events that have to pass tests do not end a wait by themselves, and those since the entry may have come before it began.
async function testAwaited(tx: Database, run: LockedRun, open: StepRun): Promise<void> {
  const { id, stepType, outcome, eventName, input, resumeEventId } = open;
  if (stepType !== 'WAIT_FOR_EVENT' || outcome !== null || eventName === null) return;
  const since = input?.countsFrom === 'entry' ? 'entry' : { eventId: resumeEventId ?? '' };
  if (since !== 'entry' && resumeEventId === null) return;
  const met = await awaitedEvent(tx, run, { eventName, where: input?.where, since, wait: id });
  Object.assign(open, { resumeEventId: met, outcome: met === null ? null : 'EVENT' });
}

/** The effects of runs: on the rows of the database, in the transaction that moves the run on. */
function effectsOn(
  tx: Database,
  quota: Pick<MailQuota, 'take'>,
  { turns = turnsOfProcess }: Pick<AdvanceDeps, 'turns'>,
): Effects {
  const scopeOf = (run: LockedRun): TreeScope => ({
    projectId: run.projectId,
    now: new Date(run.now),
    trigger: () => triggerData(tx, run),
  });
  return {
    async graph(versionId) {
      const version = await pinnedVersion(tx, versionId);
      if (version === null) throw new Error(`The version ${versionId} of a graph is gone`);
      return version.graph;
    },
    hold: ({ run, contact }, trees) => treesHold(tx, trees, contact, scopeOf(run)),
    decide: ({ run, contact }, config) => decideCondition(tx, config, { contact, context: run.context }, scopeOf(run)),
    eventSinceEntry: (run, asked) => awaitedEvent(tx, run, { ...asked, since: 'entry', wait: null }),
    turn: (run, until) => turns.take(tx, run, until),
    event: (id) => resumingEvent(tx, id),
    async send({ run, contact }, step, stepRunId) {
      const config = configOf('SEND_EMAIL', step);
      const sent = run.sentBefore?.[step.id];
      if (sent !== undefined) return { ...sent, skipped: alreadySent };
      const template = await templateOf(tx, run.projectId, step.templateId ?? config.templateId ?? null);
      const recipient = recipientOf(config);
      const isSkipped = template.type !== 'TRANSACTIONAL' && recipient.type === 'CONTACT' && !contact.subscribed;
      if (!isSkipped) await quota.take(step.id, run.projectId, mailKind(template));
      return sendStepMail(tx, run, contact, stepRunId, template, recipient);
    },
    update: (facts, change) => updateContact(tx, facts, change),
    save: (run, changes) => saveWalk(tx, run, changes),
  };
}

// The data of the event that started a run; one that no event started has what it was started with as its context.
async function triggerData(tx: Database, { sourceEventId, context }: LockedRun): Promise<JsonObjectValue | null> {
  return sourceEventId === null ? context : ((await resumingEvent(tx, sourceEventId))?.data ?? null);
}

async function updateContact(tx: Database, { run, contact }: RunFacts, change: StepUpdate): Promise<StepContact> {
  const writing = { ...writingAs(tx, 'step', run.automationId), limitedBy: limitOf(run) };
  // A refusal of the database must not end the transaction, in which the step is noted as failed.
  const row = await withSavepoint(tx, () =>
    writeContact(tx, run.projectId, { id: contact.id, ...change }, writing),
  ).catch((error: unknown) => {
    throw error instanceof ContactDataError ? new StepFailure(`The data of the contact ${error.problem}`) : error;
  });
  if (row === null) throw new StepFailure('The contact no longer exists');
  const { subscribed, data, updatedAt } = row;
  return { ...contact, subscribed, data, updatedAt: isoInstant(updatedAt) };
}

async function saveWalk(
  tx: Database,
  { id: runId, goal, now }: LockedRun,
  { change, written, exit, reached }: WalkChanges,
): Promise<void> {
  await saveRun(tx, change, written, exit);
  if (goal === null) return;
  const taken = written.flatMap(({ stepType, stepId, output }) =>
    stepType === 'SPLIT' && output?.branch ? [[stepId, output.branch]] : [],
  );
  const branches = [JSON.stringify(Object.fromEntries(taken))];
  if (taken.length > 0)
    await tx.em.nativeUpdate(
      AutomationGoal,
      { runId },
      { branches: raw(`coalesce(branches, '{}'::jsonb) || ?::jsonb`, branches) },
    );
  if (reached === null) return;
  const how = reached === 'now' ? { metAt: new Date(now) } : { hadMet: true };
  await tx.em.nativeUpdate(AutomationGoal, { runId, checkAt: { $ne: null } }, { ...how, checkAt: null });
}
