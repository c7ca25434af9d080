import { queueMemberMails } from '../../accounts/system-mail/service.ts';
import { unscheduleCampaigns } from '../../campaigns/lifecycle/stopping.ts';
import type { Config } from '../../lib/config/config.ts';
import { type Clock, dayMs, hourMs, sqlSpan } from '../../lib/time.ts';
import { type MailCounts, mailCounts } from '../../mail/ledger/mail-count-queries.ts';
import { isoInstant } from '../../store/columns.ts';
import type { Outbox } from '../../store/outbox/dispatcher.ts';
import type { OutboxTicket } from '../../store/outbox/queries.ts';
import type { Database } from '../../store/sql.ts';
import { disableForReputation, failQueued, projectAge } from './queries.ts';
import {
  judge,
  levelsOf,
  type Reputation,
  type ReputationFinding,
  type ReputationJudgement,
  rateWindow,
} from './rules.ts';
import type { Security } from './schema.ts';

const newForDays = 30;

/** The figures that a project's reputation is judged by, as of now; null when the project is gone. */
export async function reputationOf(
  db: Database,
  projectId: string,
  now: Date,
): Promise<(Reputation & { disabled: boolean }) | null> {
  const project = await projectAge(db, projectId);
  if (project === null) return null;
  const since = async (from: Date | null) =>
    windowOf(await mailCounts(db, projectId, sqlSpan({ from, until: null }, hourMs)));
  const twentyFourHour = await since(new Date(now.getTime() - dayMs));
  const sevenDay = await since(new Date(now.getTime() - 7 * dayMs));
  return {
    twentyFourHour,
    sevenDay,
    allTime: await since(null),
    isNewProject: now.getTime() - Date.parse(isoInstant(project.createdAt)) < newForDays * dayMs,
    disabled: project.disabled,
  };
}

function windowOf({ rated, ratedBounced, ratedComplained }: MailCounts) {
  return rateWindow(rated, ratedBounced, ratedComplained);
}

const happened = { bounces: 'bounced', complaints: 'were reported as spam' } as const;

/** What is said of findings. Limits and their hours are nobody's business but the operator's (docs/contract/platform.md#2-4). */
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

/** What guards reputations. */
export interface GuardDeps {
  db: Database;
  clock: Clock;
  outbox: Pick<Outbox, 'dispatchSoon'>;
  settings: Pick<Config, 'AUTO_PROJECT_DISABLE' | 'APP_ENCRYPTION_KEY' | 'SYSTEM_FROM_NAME' | 'DASHBOARD_URI'>;
  log: { warn(facts: object, text: string): void };
}

/** A project that was disabled, and what Temporal must be told after the commit. */
export interface Stopped {
  projectId: string;
  tickets: OutboxTicket[];
}

/**
 * Judges a project and disables it where a limit is reached, in the caller's transaction: the project, its scheduled
 * campaigns, and a mail to each member. Null when nothing changed; give what it answers to `afterStop` after the commit.
 */
export async function stopIfHarmful(db: Database, deps: GuardDeps, projectId: string): Promise<Stopped | null> {
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
export async function afterStop({ db, outbox }: Pick<GuardDeps, 'db' | 'outbox'>, stopped: Stopped): Promise<void> {
  outbox.dispatchSoon(...stopped.tickets);
  while ((await failQueued(db, stopped.projectId, mailsPerStep)) === mailsPerStep);
}

/** Judges a project in a transaction of its own, after one of its mails bounced for good or was reported as spam. */
export async function guardReputation(deps: GuardDeps, projectId: string): Promise<boolean> {
  const stopped = await deps.db.transaction((db) => stopIfHarmful(db, deps, projectId));
  if (stopped !== null) await afterStop(deps, stopped);
  return stopped !== null;
}
