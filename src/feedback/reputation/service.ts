import { queueMemberMails } from '../../accounts/system-mail/service.ts';
import { usageMoved } from '../../billing/daily-queries.ts';
import { unscheduleCampaigns } from '../../campaigns/lifecycle/stopping.ts';
import type { Config } from '../../lib/config/config.ts';
import { type Clock, dayMs, hourMs, sqlSpan } from '../../lib/time.ts';
import { countingUnsent, endedColumns, failedEvents } from '../../mail/ledger/counting.ts';
import { foldMailChanges, type MailCounts, mailCounts } from '../../mail/ledger/mail-count-queries.ts';
import { Project } from '../../projects/queries.ts';
import type { Outbox } from '../../store/outbox/dispatcher.ts';
import type { OutboxTicket } from '../../store/outbox/queries.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import {
  judge,
  levelsOf,
  type Reputation,
  type ReputationFinding,
  type ReputationJudgement,
  rateWindow,
  type Security,
} from './rules.ts';

/**
 * Folds changes of mail into the counts, and judges each project that has new bounces or complaints among them: whatever
 * reported them, and whether or not the process that took the report lived to judge it. Answers how many changes there were.
 */
export async function foldAndJudge(deps: GuardDeps, stop?: AbortSignal): Promise<number> {
  const stopped: Stopped[] = [];
  const folded = await foldMailChanges(
    deps.db,
    async (db, harmed) => {
      for (const projectId of harmed) {
        const one = await stopIfHarmful(db, deps, projectId);
        if (one !== null) stopped.push(one);
      }
    },
    stop,
  );
  for (const one of stopped) await afterStop(deps, one);
  return folded;
}

/** Disables a project for its reputation. Answers false when it was disabled already. */
async function disableForReputation(tx: Database, projectId: string): Promise<boolean> {
  const changes = { disabled: true, disabledReason: 'REPUTATION', updatedAt: new Date() } as const;
  return (await tx.em.nativeUpdate(Project, { id: projectId, disabled: false }, changes)) > 0;
}

/**
 * Ends up to `limit` mails of a project that wait, because it is disabled; answers how many. Mail in a claim may be with the
 * provider: whoever holds the claim settles it.
 */
async function failQueued(db: Database, projectId: string, limit: number): Promise<number> {
  const given = sql`
    gone as (
      delete from email_queue where email_id = any(array(
        select email_id from email_queue where project_id = ${projectId} and claim_id is null
        order by due_at, email_id limit ${limit} for update skip locked))
      returning email_id),
    failed as (
      update emails e set status = 'FAILED', reason = '{"code": "project_disabled"}', updated_at = now()
      where e.id = any(array(select email_id from gone)) and e.status in ('PENDING', 'SENDING') and e.sent_at is null
      returning ${raw(endedColumns)}),
    counted as (${countingUnsent('failed', 'FAILED')}),
    ${raw(usageMoved('failed', 'false', 'true'))}`;
  const events = [failedEvents('failed', 'usage_moved')];
  const result = sql`select (select count(*) from gone)::integer as failed`;
  const row = await db.row<{ failed: number }>(recordingEvents({ given, events, result }));
  return row?.failed ?? 0;
}

const newForDays = 30;

/** The figures that a project's reputation is judged by, as of now; null when the project is gone. */
export async function reputationOf(
  db: Database,
  projectId: string,
  now: Date,
): Promise<(Reputation & { disabled: boolean }) | null> {
  const project = await db.em.findOne(Project, { id: projectId }, { fields: ['createdAt', 'disabled'], refresh: true });
  if (project === null) return null;
  const since = async (from: Date | null) =>
    windowOf(await mailCounts(db, projectId, sqlSpan({ from, until: null }, hourMs)));
  const twentyFourHour = await since(new Date(now.getTime() - dayMs));
  const sevenDay = await since(new Date(now.getTime() - 7 * dayMs));
  return {
    twentyFourHour,
    sevenDay,
    allTime: await since(null),
    isNewProject: now.getTime() - project.createdAt.getTime() < newForDays * dayMs,
    disabled: project.disabled,
  };
}

function windowOf({ rated, ratedBounced, ratedComplained }: MailCounts) {
  return rateWindow(rated, ratedBounced, ratedComplained);
}

const happened = { bounces: 'bounced', complaints: 'were reported as spam' } as const;

/** Returns the sentences about findings. Limits and their hours are nobody's business but the operator's (docs/contract/platform.md#2-4). */
function sentencesOf(findings: ReputationFinding[], judged: 'too high' | 'high'): string[] {
  const sentences = findings.map(({ of, unit, isAllTime }) => {
    const measured = unit === 'percent' ? 'share' : 'number';
    return `The ${measured} of emails that ${happened[of]} is ${judged}${isAllTime ? ' since the project began' : ''}`;
  });
  return [...new Set(sentences)];
}

/** How a project's mail is received, as its members see it; null when the project is gone. */
export async function securityOf(db: Database, projectId: string, now: Date): Promise<Security | null> {
  const reputation = await reputationOf(db, projectId, now);
  if (reputation === null) return null;
  const { critical, warnings } = judge(reputation);
  // Of a day and of a week the same is said: the worse of them.
  const isSaid = ({ of, unit, isAllTime }: ReputationFinding) =>
    critical.some((finding) => finding.of === of && finding.unit === unit && finding.isAllTime === isAllTime);
  return {
    status: {
      projectId,
      isHealthy: critical.length === 0,
      shouldDisable: critical.length > 0,
      twentyFourHour: rateWindow(0, 0, 0),
      sevenDay: reputation.sevenDay,
      allTime: reputation.allTime,
      isNewProject: false,
      violations: sentencesOf(critical, 'too high'),
      warnings: sentencesOf(
        warnings.filter((finding) => !isSaid(finding)),
        'high',
      ),
    },
    levels: levelsOf(reputation) as Security['levels'],
    isDisabled: reputation.disabled,
  };
}

/** The dependencies of guarding reputations. */
interface GuardDeps {
  db: Database;
  clock: Clock;
  outbox: Pick<Outbox, 'dispatchSoon'>;
  settings: Pick<Config, 'AUTO_PROJECT_DISABLE' | 'APP_ENCRYPTION_KEY' | 'SYSTEM_FROM_NAME' | 'DASHBOARD_URI'>;
  log: { warn(facts: object, text: string): void };
}

/** A project that was disabled, and the commands for Temporal after the commit. */
interface Stopped {
  projectId: string;
  tickets: OutboxTicket[];
}

/**
 * Judges a project and disables it where a limit is reached, in the caller's transaction: the project, its scheduled
 * campaigns, and a mail to each member. Null when nothing changed; give what it answers to `afterStop` after the commit.
 */
async function stopIfHarmful(db: Database, deps: GuardDeps, projectId: string): Promise<Stopped | null> {
  const reputation = await reputationOf(db, projectId, deps.clock());
  if (reputation === null || reputation.disabled) return null;
  const judgement = judge(reputation);
  if (judgement.critical.length === 0) return null;
  if (!deps.settings.AUTO_PROJECT_DISABLE) {
    deps.log.warn(factsOf(projectId, reputation, judgement), 'a project should be disabled for its reputation');
    return null;
  }
  if (!(await disableForReputation(db, projectId))) return null;
  deps.log.warn(factsOf(projectId, reputation, judgement), 'a project was disabled for its reputation');
  const wakes = await unscheduleCampaigns(db, projectId);
  const link = `${deps.settings.DASHBOARD_URI}/settings/security`;
  const mails = await queueMemberMails(db, deps.settings, { projectId, kind: 'project-disabled', link });
  return { projectId, tickets: [...wakes, ...mails] };
}

function factsOf(projectId: string, { sevenDay, allTime }: Reputation, { critical }: ReputationJudgement) {
  return { projectId, limits: critical.map(({ limit }) => limit), sevenDay, allTime };
}

const mailsPerStep = 2_000;

/**
 * Tells Temporal, and ends the mail that waits. What a crash leaves over is refused with the same reason when its turn
 * comes.
 */
async function afterStop({ db, outbox }: Pick<GuardDeps, 'db' | 'outbox'>, stopped: Stopped): Promise<void> {
  outbox.dispatchSoon(...stopped.tickets);
  while ((await failQueued(db, stopped.projectId, mailsPerStep)) === mailsPerStep);
}

/** Judges a project in a transaction of its own, after one of its mails bounced for good or was reported as spam. */
export async function guardReputation(deps: GuardDeps, projectId: string): Promise<boolean> {
  const stopped = await deps.db.transaction((db) => stopIfHarmful(db, deps, projectId));
  if (stopped !== null) await afterStop(deps, stopped);
  return stopped !== null;
}

/** Judges a project after a permanent bounce or a complaint. Resolves when the effect is written down; never rejects. */
export type ReputationGuard = (projectId: string) => Promise<void>;

/**
 * The guard of a process. Of reports that come together for one project, the later ones share one check that begins after
 * the one that is running: a burst of bounces costs a handful of checks. What is missed here is judged by workers.
 */
export function createReputationGuard(deps: GuardDeps, onStop: (projectId: string) => void): ReputationGuard {
  const waiting = new Map<string, Promise<void>>();
  const last = new Map<string, Promise<void>>();
  const check = async (projectId: string) => {
    try {
      if (await guardReputation(deps, projectId)) onStop(projectId);
    } catch (error) {
      deps.log.warn({ err: error, projectId }, 'a reputation could not be judged; a worker does it soon');
    }
  };
  return (projectId) => {
    const shared = waiting.get(projectId);
    if (shared !== undefined) return shared;
    const mine = (last.get(projectId) ?? Promise.resolve()).then(() => {
      waiting.delete(projectId);
      return check(projectId);
    });
    waiting.set(projectId, mine);
    last.set(projectId, mine);
    void mine.then(() => {
      if (last.get(projectId) === mine) last.delete(projectId);
    });
    return mine;
  };
}
