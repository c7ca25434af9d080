import { stepOf } from '@fernpost/workflow-graph';
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { type StartCommand, workflowId } from '../../../temporal/commands.ts';
import { conflict, invalid, notFound } from '../../lib/errors.ts';
import type { FieldProblem } from '../../lib/validation/problems.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { enqueue, type OutboxTicket } from '../../store/outbox/queries.ts';
import { restartable } from '../../store/outbox/recovery.ts';
import type { Database } from '../../store/sql.ts';
import { issuesAsProblems, issuesOf } from '../graph/graph.ts';
import { found, lockAutomation } from '../queries.ts';
import { type AutomationRow, keepLimits } from '../rows.ts';
import { draftGraph, ensureVersion, type PinnedVersion, pinnedVersion, refuseDuringRollout } from '../versions.ts';
import {
  AutomationMigration,
  cancelMigrationRow,
  contactsOfOtherVersions,
  findMigration,
  stalledMigrations,
  stepsOfVersions,
} from './queries.ts';
import {
  type MigratePlan,
  type MigrationBody,
  type MigrationPreview,
  type MovePlan,
  type MoveRule,
  ruleAt,
} from './rules.ts';

/** The outcome of a request to migrate. */
export interface AskedMigration {
  body: MigrationPreview | MigrationBody;
  tickets: OutboxTicket[];
}

/**
 * Checks a plan that migrates the contacts inside to the graph as it is now, counts whom each rule matches, and starts the job
 * unless it is a dry run (issue 6, part 4).
 * @throws 404; 422 for a graph that cannot be enabled and for rules that cannot work; 409 while another migration or a rollout is under way
 */
export function migrateContacts(
  db: Database,
  projectId: string,
  automationId: string,
  asked: MigratePlan,
): Promise<AskedMigration> {
  return db.transaction(async (tx) => {
    const automation = found(await lockAutomation(tx, projectId, automationId), automationId);
    await keepLimits(tx, automationId);
    await refuseDuringRollout(tx, automationId);
    const { preview, migration, tickets } = await migrateContactsOf(tx, automation, asked);
    if (migration !== null)
      await recordChange(tx, projectId, {
        action: 'workflow.migrated',
        target: automationId,
        after: { migration: migration.id, contacts: preview.people },
      });
    return { body: migration ?? preview, tickets };
  });
}

/**
 * `migrateContacts` in the caller's transaction, which has locked the automation. The migration is null for a dry run.
 * @throws as `migrateContacts`
 */
export async function migrateContactsOf(
  tx: Database,
  automation: AutomationRow,
  asked: MigratePlan,
  at = '',
): Promise<{ preview: MigrationPreview; migration: MigrationBody | null; tickets: OutboxTicket[] }> {
  const { id: automationId, projectId } = automation;
  const issues = await issuesOf(tx, automation, await draftGraph(tx, automationId));
  if (issues.length > 0)
    throw invalid(
      issuesAsProblems(issues),
      'Contacts cannot be migrated to a graph that cannot be enabled: correct it first.',
    );
  const versionId = await ensureVersion(tx, automationId);
  const target = versionId && (await pinnedVersion(tx, versionId));
  if (!target) throw notFound('workflow', automationId);
  const preview = await previewOfMove(tx, target, asked, at);
  if (asked.dryRun) return { preview, migration: null, tickets: [] };
  const facts = { toVersionId: target.id, rules: compiled(asked), expected: preview.people };
  const row = tx.em.create(AutomationMigration, { projectId, automationId, ...facts });
  await tx.em.flush().catch(refuseSecond);
  const ticket = await enqueue(tx, startOfMigration(row));
  return { preview, migration: await getMigration(tx, projectId, automationId, row.id), tickets: [ticket] };
}

function refuseSecond(error: unknown): never {
  if (error instanceof UniqueConstraintViolationException)
    throw conflict('A migration of this workflow is under way: wait for it or cancel it first');
  throw error;
}

/**
 * How many contacts the rules of a plan would match in a migration to a version. `at` is where the plan stands in the request.
 * @throws 422 for rules that cannot work
 */
export async function previewOfMove(
  tx: Database,
  target: PinnedVersion,
  asked: Pick<MigratePlan, 'plan' | 'otherwise'>,
  at: string,
): Promise<MigrationPreview> {
  const counts = await contactsOfOtherVersions(tx, target.automationId, target.id);
  const preview = await previewOf(tx, target, compiled(asked), counts);
  const problems = problemsOf(asked, target, preview).map((each) => ({ ...each, field: `${at}${each.field}` }));
  if (problems.length > 0)
    throw invalid(problems, 'Send it with "dryRun": true to see how many contacts each rule matches.');
  return preview;
}

function compiled({ plan, otherwise }: Pick<MigratePlan, 'plan' | 'otherwise'>): MovePlan {
  const rule = ({ action, toStepId, reason }: MigratePlan['otherwise']): MoveRule => ({
    action,
    toStepId: toStepId ?? null,
    reason: reason ?? null,
  });
  return {
    steps: Object.fromEntries(plan.map((each) => [each.stepId, rule(each)])),
    otherwise: rule(otherwise),
  };
}

async function previewOf(
  tx: Database,
  target: PinnedVersion,
  plan: MovePlan,
  counts: readonly { stepId: string | null; people: number }[],
): Promise<MigrationPreview> {
  const known = new Map((await stepsOfVersions(tx, target.automationId)).map((step) => [step.id, step]));
  const ids = [...new Set([...Object.keys(plan.steps), ...counts.map(({ stepId }) => stepId)])];
  return {
    dryRun: true,
    toVersion: target.version,
    people: counts.reduce((total, { people }) => total + people, 0),
    rules: ids.map((stepId) => {
      const step = stepId === null ? undefined : known.get(stepId);
      const { action, toStepId } = ruleAt(plan, stepId);
      const people = counts.find((count) => count.stepId === stepId)?.people ?? 0;
      return { stepId, stepName: step?.name ?? null, stepType: step?.type ?? null, action, toStepId, people };
    }),
  };
}

/** Rules that cannot work, each named by its place in the request. */
function problemsOf(
  asked: Pick<MigratePlan, 'plan' | 'otherwise'>,
  { graph }: PinnedVersion,
  preview: MigrationPreview,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (field: string, message: string) => problems.push({ field, message, code: 'custom' });
  const checkTarget = (at: string, { action, toStepId }: MigratePlan['otherwise']) => {
    if (action !== 'moveNow') return;
    const to = toStepId ? stepOf(graph, toStepId) : undefined;
    if (!toStepId) refuse(`${at}.toStepId`, 'is required for moveNow');
    else if (!to) refuse(`${at}.toStepId`, 'is no step of the workflow');
    else if (to.type === 'TRIGGER') refuse(`${at}.toStepId`, 'cannot be the TRIGGER');
  };
  const seen = new Set<string>();
  for (const [n, rule] of asked.plan.entries()) {
    if (seen.has(rule.stepId)) refuse(`plan.${n}.stepId`, 'has a rule already');
    seen.add(rule.stepId);
    const met = preview.rules.find(({ stepId }) => stepId === rule.stepId);
    if (met?.stepName === null) refuse(`plan.${n}.stepId`, 'has never been a step of the workflow');
    checkTarget(`plan.${n}`, rule);
    if (rule.action === 'moveAtNextStep' && !stepOf(graph, rule.stepId))
      refuse(`plan.${n}.action`, `cannot be moveAtNextStep: "${met?.stepName}" is missing in the new version`);
  }
  checkTarget('otherwise', asked.otherwise);
  if (asked.otherwise.action !== 'moveAtNextStep') return problems;
  for (const { stepId, stepName, people } of preview.rules)
    if (people > 0 && !(stepId !== null && (seen.has(stepId) || stepOf(graph, stepId))))
      refuse(
        'otherwise.action',
        `cannot be moveAtNextStep for the ${people} at "${stepName}" (${stepId}), which is missing in the new version`,
      );
  return problems;
}

/** A migration and how far it is. @throws 404 */
export async function getMigration(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
): Promise<MigrationBody> {
  const row = await findMigration(db, projectId, automationId, id);
  if (row === null) throw notFound('migration', id);
  const { state, expected, finished, movedAtNextStep, movedNow, exited, passedOver, createdAt, updatedAt } = row;
  const done = finished + movedAtNextStep + movedNow + exited + passedOver;
  const progress = expected === 0 ? 0 : Math.min(99, Math.floor((100 * done) / expected));
  return {
    ...{ id, workflowId: automationId, state, expected, finished, movedAtNextStep, movedNow, exited, passedOver },
    toVersion: (await pinnedVersion(db, row.toVersionId))?.version ?? 0,
    progress: state === 'completed' ? 100 : progress,
    failedReason: row.failedReason ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    completedAt: row.completedAt?.toISOString() ?? null,
  };
}

/** Ends a migration; contacts that it has migrated stay migrated, and one that is over stays as it is. @throws 404 */
export async function cancelMigration(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
): Promise<MigrationBody> {
  await getMigration(db, projectId, automationId, id);
  // The job reads its row before each chunk, so that this is all there is to do.
  await cancelMigrationRow(db, id);
  return getMigration(db, projectId, automationId, id);
}

/** The start of a migration's execution. */
function startOfMigration({
  id,
  projectId,
  automationId,
}: Pick<AutomationMigration, 'id' | 'projectId' | 'automationId'>): StartCommand {
  return {
    type: 'start',
    workflow: 'migrateAutomation',
    id: workflowId.automationMigration(id),
    input: { migrationId: id },
    searchAttributes: { ProjectId: projectId, AutomationId: automationId, Kind: 'migration' },
    staticSummary: 'Migrates the contacts inside an automation to another version of its graph',
  };
}

/** Migrations whose execution may be lost. */
export const recoverableMigrations = restartable('migrations of automations', stalledMigrations, startOfMigration);
