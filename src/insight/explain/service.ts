import * as v from 'valibot';
import { takeAttempt } from '../../accounts/queries.ts';
import { suppressionOf } from '../../contacts/suppressions/matching.ts';
import { enabledRules } from '../../contacts/suppressions/rules.ts';
import { notFound } from '../../lib/errors.ts';
import { removedBefore } from '../../store/columns.ts';
import type { Database } from '../../store/sql.ts';
import { explainCampaign } from './campaign.ts';
import { explainMail, heldOut } from './mail.ts';
import { type ContactFacts, contactFacts, findCampaign, findMail } from './queries.ts';
import { ExplainRequest, type Explanation, evaluated, type Finding, finding, notKept } from './schema.ts';
import { explainWorkflow } from './workflow.ts';

const mostPerMinute = 60;

/**
 * Why a contact got something, or did not (docs/contract/certainty.md#2).
 * `keptDays` is the setting CONTACT_HISTORY_DAYS.
 * @throws 404 for a contact, campaign, workflow or mail that is not of the project; 429 after 60 explanations in a minute
 */
export async function explain(
  db: Database,
  projectId: string,
  request: ExplainRequest,
  keptDays: number,
): Promise<Explanation> {
  const attempt = { scope: 'explain', subject: projectId, limit: mostPerMinute, seconds: 60 } as const;
  await takeAttempt(db, attempt, `A project gets ${mostPerMinute} explanations a minute`);
  const contact = await contactFacts(db, projectId, request.contact);
  if (contact === null) throw notFound('contact', request.contact);
  const { decisions, ...found } = await findingOf(db, projectId, contact, request, keptDays);
  const { about, at } = request;
  return {
    ...found,
    contact: { id: contact.id, email: contact.email },
    decisions,
    permalink: permalinkOf({ contact: contact.id, about, at: at ?? contact.readAt }),
  };
}

/** The question of a permalink. @throws 404 for what is none */
export function requestOf(permalink: string): ExplainRequest {
  try {
    return v.parse(ExplainRequest, JSON.parse(Buffer.from(permalink, 'base64url').toString()));
  } catch {
    throw notFound('explanation', permalink);
  }
}

function permalinkOf(request: ExplainRequest): string {
  return Buffer.from(JSON.stringify(request)).toString('base64url');
}

async function findingOf(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  { about, at = contact.readAt }: ExplainRequest,
  keptDays: number,
): Promise<Finding> {
  if ('campaignId' in about) {
    const campaign = await findCampaign(db, projectId, about.campaignId);
    if (campaign === null) throw notFound('campaign', about.campaignId);
    return explainCampaign(db, projectId, contact, campaign, keptDays);
  }
  if ('workflowId' in about)
    return explainWorkflow(db, projectId, contact, about.workflowId, new Date(at).toISOString());
  if ('emailId' in about) {
    const mail = await findMail(db, projectId, { emailId: about.emailId, contactId: contact.id });
    if (mail === null) throw notFound('email', about.emailId);
    return explainMail(db, projectId, mail);
  }
  return explainAny(db, projectId, contact, at);
}

// Whatever keeps all mail from a contact, then the status of the latest mail.
async function explainAny(db: Database, projectId: string, contact: ContactFacts, at: string): Promise<Finding> {
  const rule = suppressionOf(await enabledRules(db, projectId), contact.email, new Date());
  const dataAsOf = contact.readAt;
  const decisions = [
    contact.subscribed
      ? evaluated('contact.subscribed', 'pass', 'The contact is subscribed.', { dataAsOf, actual: true })
      : evaluated('contact.subscribed', 'info', 'The contact is not subscribed: only transactional email reaches it.', {
          dataAsOf,
          actual: false,
        }),
    rule === null
      ? evaluated('mail.suppressed', 'pass', 'No suppression rule matches the address.', { dataAsOf })
      : evaluated('mail.suppressed', 'stop', `The suppression rule "${rule.name}" matches ${contact.email}.`, {
          dataAsOf,
          expected: { kind: rule.kind, pattern: rule.pattern },
          actual: contact.email,
          source: { type: 'suppression rule', id: rule.ruleId, href: '/suppressions' },
        }),
    ...(contact.isHeldOut ? [heldOut('info', 'is', { basis: 'evaluated', dataAsOf })] : []),
  ];
  const latest = await findMail(db, projectId, { contactId: contact.id, until: at });
  if (latest === null) {
    const only = contact.subscribed ? '' : ' It is not subscribed: only transactional email reaches it.';
    const before = await removedBefore(db, projectId, 'mail');
    const isGone = before !== null && contact.createdAt < before.toISOString();
    if (isGone) decisions.push(notKept('mail.not_kept', 'Mail', before));
    const sentence = `${isGone ? 'No email to this contact is kept.' : 'No email to this contact has been accepted yet.'}${only}`;
    return finding(rule === null ? 'will' : 'will_not', decisions, sentence);
  }
  const found = await explainMail(db, projectId, latest);
  return { ...found, decisions: [...decisions, ...found.decisions] };
}
