import type { OperationId } from '@fernpost/sdk';
import { LockMode } from '@mikro-orm/core';
import * as v from 'valibot';
import { selectedBy } from '../../automations/enrollment/past.ts';
import { Automation, AutomationStep, AutomationTransition } from '../../automations/entity.ts';
import type { EnrollContacts } from '../../automations/runs/schema.ts';
import { Campaign } from '../../campaigns/entity.ts';
import type { Correction } from '../../campaigns/schema.ts';
import { Contact } from '../../contacts/entity.ts';
import { hashed, launchFacts, type ReviewFacts } from '../../launches/review/findings.ts';
import { countCorrection } from '../../launches/revisions/correct.ts';
import { field, Instant, Integer, nameSchemas, Uuid } from '../../lib/validation/fields.ts';
import { Project } from '../../projects/queries.ts';
import { storedDefinition } from '../../segments/definition.ts';
import { type Database, sql } from '../../store/sql.ts';
import { Template } from '../../templates/queries.ts';

/** A plan that waits for a member of the project. */
export const WaitingPlan = v.object({
  id: field('ID of the plan.', Uuid),
  action: field('What is planned, such as `launch_campaign`.', v.string()),
  sentence: field('What would happen, as a sentence. Values from the project’s data are quoted.', v.string()),
  affects: field('Number of contacts it reaches.', Integer),
  samples: field('Addresses of some of these contacts.', v.array(v.string())),
  key: field('Name of the API key that made the plan; null when the key was deleted.', v.nullable(v.string())),
  expiresAt: field('When the plan expires unless it is approved.', Instant),
  createdAt: field('When the plan was made.', Instant),
});
export type WaitingPlan = v.InferOutput<typeof WaitingPlan>;

nameSchemas({ WaitingPlan });

/** An action whose sentence somebody reads. */
interface Planned {
  action: string;
  operation: OperationId;
  input: { path?: Record<string, string>; body?: unknown };
}

// Locked against changes, and kept from the plan's own work, which reads the same rows by this entity manager.
const shared = { lockMode: LockMode.PESSIMISTIC_READ, disableIdentityMap: true } as const;

/**
 * Everything that the sentence of a plan stands for, each by a hash: content, sender, audience and graph as they are now. What it
 * reads is locked until the transaction ends, so that nothing changes between the comparison and the act.
 * @throws 404 CAMPAIGN_NOT_FOUND
 */
export async function planFacts(
  tx: Database,
  projectId: string,
  { action, input: { path = {}, body } }: Planned,
  now: Date,
): Promise<ReviewFacts> {
  const given = (body ?? {}) as { template?: string; contactId?: string; executionIds?: string[] } & Pick<
    EnrollContacts,
    'segmentId' | 'condition'
  >;
  const project = await projectFacts(tx, projectId);
  switch (action) {
    case 'send_email': {
      const sent = given.template === undefined ? {} : { templates: await templates(tx, projectId, [given.template]) };
      return hashed({ project, ...sent });
    }
    case 'launch_campaign':
      return launchFacts(tx, projectId, path.id ?? '', now);
    case 'revise_campaign': {
      // Who joined the audience since the send began does not get it.
      const { audience: _, segments: __, ...rest } = await launchFacts(tx, projectId, path.id ?? '', now);
      return rest;
    }
    case 'correct_campaign': {
      const counted = await countCorrection({ db: tx, clock: () => now }, projectId, path.id ?? '', body as Correction);
      return { ...(await launchFacts(tx, projectId, path.id ?? '', now)), ...hashed({ counted }) };
    }
    case 'pause_campaign':
      return hashed({ campaign: await campaignFacts(tx, projectId, path.id ?? '') });
    case 'resend_email':
      return hashed({
        project,
        email: await tx.row(sql`
          select to_address, to_name, "from", from_name, reply_to, subject, body, render, headers, attachments, status, reason,
            message_class, tracking
          from emails where project_id = ${projectId} and id = ${path.id} for share`),
      });
    case 'enrol':
      return hashed({
        project,
        ...(await workflow(tx, projectId, path.id ?? '', [])),
        contact: await contactFacts(tx, projectId, given.contactId ?? ''),
      });
    case 'enroll_contacts': {
      const selected = selectedBy(given);
      const asked = selected && (await storedDefinition(tx, projectId, selected));
      const audience = asked && { condition: asked.condition, segments: [...asked.segments] };
      return hashed({ project, ...(await workflow(tx, projectId, path.id ?? '', [])), audience });
    }
    case 'pause_workflow':
    case 'resume_workflow':
      return hashed({ workflow: await pausedFacts(tx, projectId, path.id ?? '') });
    case 'retry_runs':
      return hashed({ project, ...(await workflow(tx, projectId, path.id ?? '', given.executionIds ?? [])) });
    default:
      return hashed({
        job: await tx.row(sql`
          select kind, spec, state, total_count, created_count, updated_count, failure_count from jobs
          where project_id = ${projectId} and id = ${path.jobId} for share`),
      });
  }
}

async function projectFacts(tx: Database, id: string) {
  const project = await tx.em.findOne(Project, { id }, shared);
  if (project === null) return null;
  const { name, tracking, language, escapeContactData: escape_contact_data } = project;
  return { name, tracking, language, escape_contact_data };
}

async function campaignFacts(tx: Database, projectId: string, id: string) {
  const campaign = await tx.em.findOne(Campaign, { projectId, id }, shared);
  if (campaign === null) return null;
  const { name, subject, body, status, contentVersion: content_version, sendSeq: send_seq } = campaign;
  return { name, subject, body, status, content_version, send_seq };
}

// Both lock the workflow later: a shared lock would let two of them wait for each other.
async function pausedFacts(tx: Database, projectId: string, id: string) {
  const exclusive = { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const;
  const paused = await tx.em.findOne(Automation, { projectId, id }, exclusive);
  return paused && { name: paused.name, enabled: paused.enabled, pausedAt: paused.pausedAt ?? null };
}

async function contactFacts(tx: Database, projectId: string, id: string) {
  const contact = await tx.em.findOne(Contact, { projectId, id }, shared);
  return contact && { email: contact.email, subscribed: contact.subscribed, data: contact.data };
}

async function templates(tx: Database, projectId: string, ids: readonly string[]): Promise<object[]> {
  const byId = { ...shared, orderBy: { id: 'asc' } } as const;
  const found = await tx.em.find(Template, { projectId, id: { $in: [...ids] } }, byId);
  return found.map(({ id, subject, body, document = null, from, fromName = null, replyTo = null, type, revision }) => ({
    id,
    subject,
    body,
    document,
    from,
    from_name: fromName,
    reply_to: replyTo,
    type,
    revision,
  }));
}

/** A workflow with its graph, the templates that its steps send, and the runs that the plan names. */
async function workflow(tx: Database, projectId: string, id: string, runIds: readonly string[]) {
  const automation = await tx.row(sql`
    select name, enabled, trigger_type, trigger_config, allow_reentry, revision from automations
      where project_id = ${projectId} and id = ${id} for no key update`);
  const { steps, paths } = automation === null ? { steps: [], paths: [] } : await graphFacts(tx, id);
  const runs = await tx.rows<{ versionTemplates: string[] }>(sql`
    select r.id, r.status, r.current_step_id, r.version_id, r.exit_reason, r.context, c.email,
        array(select node ->> 'templateId' from jsonb_array_elements(v.graph -> 'steps') node
          where node ->> 'templateId' is not null order by 1) as "versionTemplates"
      from automation_runs r join automation_versions v on v.id = r.version_id left join contacts c on c.id = r.contact_id
      where r.project_id = ${projectId} and r.automation_id = ${id} and r.id = any(${runIds}::uuid[]) order by r.id`);
  const used = [...steps.map(({ templateId }) => templateId ?? ''), ...runs.flatMap((run) => run.versionTemplates)];
  const sent = await templates(
    tx,
    projectId,
    [...new Set(used)].filter((each) => each !== ''),
  );
  return { workflow: automation, steps, paths, runs, templates: sent };
}

/** The graph of a workflow, which is locked. */
async function graphFacts(tx: Database, automationId: string) {
  const byId = { orderBy: { id: 'asc' }, disableIdentityMap: true } as const;
  const steps = await tx.em.find(AutomationStep, { automationId }, byId);
  const paths = await tx.em.find(AutomationTransition, { automationId }, byId);
  return {
    steps: steps.map(({ id, type, name, config, templateId = null }) => ({ id, type, name, config, templateId })),
    paths: paths.map(({ fromStepId, toStepId, branch = null, waitOutcome = null, priority }) => ({
      from_step_id: fromStepId,
      to_step_id: toStepId,
      branch,
      wait_outcome: waitOutcome,
      priority,
    })),
  };
}
