import { needsSubscription } from '../../campaigns/audience/audience.ts';
import { CampaignLedgerSum } from '../../campaigns/entity.ts';
import type { EarlierRecipients } from '../../campaigns/schema.ts';
import { CampaignStatus, editableStatuses } from '../../lib/enums.ts';
import { AppError } from '../../lib/errors.ts';
import { removedBefore } from '../../store/columns.ts';
import type { Database } from '../../store/sql.ts';
import { traceCondition } from './condition.ts';
import { campaignSource, explainMail, fix, heldOut, unsubscribedBefore } from './mail.ts';
import {
  type CampaignFacts,
  type ContactFacts,
  contactAsOf,
  type ExplainedMail,
  findMail,
  flipsAround,
  memberSince,
  missedReview,
} from './queries.ts';
import { type Decision, evaluated, type Finding, finding, notKept, onDate, recorded } from './schema.ts';

/** Why a contact got a campaign, gets it, or does not. The ledger says what happened, the audience's rules say why. */
export async function explainCampaign(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  campaign: CampaignFacts,
  keptDays: number,
): Promise<Finding> {
  const { sentAt, status } = campaign;
  const source = campaignSource(campaign.id);
  const named = `The campaign "${campaign.name}"`;
  if (sentAt === null || editableStatuses.has(status)) return notBegun();
  const begun = recorded('campaign.began', 'pass', `${named} began on ${onDate(sentAt)}.`, { at: sentAt, source });
  const { id: campaignId, sendSeq } = campaign;
  const mail = await findMail(db, projectId, { campaignId, sendSeq, contactId: contact.id });
  if (mail !== null) {
    const chosen = 'The contact was in its audience when that was frozen.';
    const inside = recorded('audience.frozen', 'pass', chosen, { at: mail.createdAt, source });
    const found = await explainMail(db, projectId, mail);
    return { ...found, decisions: [begun, inside, ...found.decisions] };
  }
  if (campaign.isPartlyKept) {
    const sentence = 'The campaign is so old that what happened to each of its recipients is no longer kept.';
    const cut = recorded('audience.not_kept', 'info', sentence, { at: sentAt, source });
    return finding('cannot_tell', [begun, cut], sentence);
  }
  return withoutRow();

  async function notBegun(): Promise<Finding> {
    const now = contact.readAt;
    const audience = await audienceDecisions(db, projectId, contact, campaign, now);
    const rules = [
      ...audience,
      ...heldOutNow(contact, campaign),
      ...(status === CampaignStatus.SCHEDULED ? await reviewDecisions(db, campaign, contact.id) : []),
    ];
    const isIn = rules.every(({ outcome }) => outcome !== 'stop');
    if (status === CampaignStatus.SCHEDULED) {
      const at = campaign.scheduledFor;
      const due = recorded('campaign.began', 'pass', `${named} is scheduled for ${onDate(at ?? now)}.`, { at, source });
      const decisions = [due, ...rules];
      if (!isIn) return finding('will_not', decisions);
      const sentence = 'The contact matches its audience now; the audience is found again when it begins.';
      return finding('will', decisions, sentence, { next: { at, what: `${named} begins.` } });
    }
    const draft = recorded('campaign.began', 'stop', `${named} is a draft and has not been sent.`, { source });
    const fixes = isIn ? [fix('Send the campaign', `/campaigns/${campaign.id}/send`)] : [];
    return finding('will_not', [draft, ...rules], undefined, { fixes });
  }

  async function withoutRow(): Promise<Finding> {
    const decisions: Decision[] = [begun, existed(contact, sentAt ?? '')];
    if (decisions.some(({ outcome }) => outcome === 'stop')) return finding('did_not', decisions);
    const then = await contactAsOf(db, projectId, contact, sentAt ?? '', keptDays);
    decisions.push(...(await audienceDecisions(db, projectId, then, campaign, sentAt ?? '')));
    decisions.push(...(await reviewDecisions(db, campaign, contact.id)));
    const isLeftOut = decisions.some(({ outcome }) => outcome === 'stop');
    const cut = decisions.find(({ check }) => check === 'audience.not_kept');
    if (cut !== undefined && !isLeftOut) return finding('cannot_tell', decisions, cut.sentence);
    if (!campaign.expanded && status === CampaignStatus.SENDING) {
      if (isLeftOut) return finding('will_not', decisions);
      const sentence = 'Its audience is still being frozen, and the contact matches it.';
      return finding('will', decisions, sentence, {
        next: { at: null, what: 'The contact is added to the ledger.' },
      });
    }
    if (!campaign.expanded && !isLeftOut) {
      const when = campaign.cancelledAt === null ? '' : ` on ${onDate(campaign.cancelledAt)}`;
      const sentence = `The campaign was stopped${when} before it reached the contact.`;
      decisions.push(recorded('campaign.stopped', 'stop', sentence, { at: campaign.cancelledAt, source }));
    } else if (!isLeftOut) {
      const isOlder = !then.isFormer && contact.updatedAt > (sentAt ?? '');
      const changed = isOlder ? ` The contact has changed since, on ${onDate(contact.updatedAt)}.` : '';
      const sentence = `The contact was not in the audience when it was frozen, although it ${isOlder ? 'would match today' : 'matches its rules'}.${changed}`;
      decisions.push(recorded('audience.frozen', 'stop', sentence, { at: sentAt, source }));
    }
    return finding('did_not', decisions);
  }
}

// Of what was sent, the ledger says it.
function heldOutNow({ isHeldOut, readAt }: ContactFacts, { type }: CampaignFacts): Decision[] {
  if (!isHeldOut || !needsSubscription(type)) return [];
  return [heldOut('stop', 'is', { basis: 'evaluated', dataAsOf: readAt })];
}

// A send that is bound to its review leaves out whoever has come to the audience since.
async function reviewDecisions(db: Database, campaign: CampaignFacts, contactId: string): Promise<Decision[]> {
  const missed = await missedReview(db, campaign, contactId);
  if (missed === null) return [];
  const on = missed.at === null ? '' : ` on ${onDate(missed.at)}`;
  const sentence = `The campaign only goes to contacts that were reviewed${on}, and the contact was not among them.`;
  return [recorded('audience.reviewed', 'stop', sentence, { at: missed.at, source: campaignSource(campaign.id) })];
}

function existed(contact: ContactFacts, at: string): Decision {
  const source = { type: 'contact', id: contact.id, href: `/contacts/${contact.id}` };
  const detail = { at: contact.createdAt, expected: `before ${at}`, actual: contact.createdAt, source };
  return contact.createdAt <= at
    ? recorded('contact.existed', 'pass', 'The contact existed when the campaign began.', detail)
    : recorded('contact.existed', 'stop', `The contact was only created on ${onDate(contact.createdAt)}.`, detail);
}

/** The rules of a campaign's audience for one contact, as of an instant. */
async function audienceDecisions(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  campaign: CampaignFacts,
  at: string,
): Promise<Decision[]> {
  const consent = needsSubscription(campaign.type) ? [await consentAt(db, projectId, contact, at)] : [];
  return [...consent, ...(await chosenBy(db, projectId, contact, campaign, at))];
}

// Every change of a subscription is an event, so that the state at an instant follows from those around it.
async function consentAt(db: Database, projectId: string, contact: ContactFacts, at: string): Promise<Decision> {
  const { before, after } = await flipsAround(db, projectId, contact.id, at);
  const subscribed = before?.subscribed ?? (after === null ? contact.subscribed : !after.subscribed);
  const detail = { at: before?.at ?? null, expected: true, actual: subscribed };
  if (subscribed) return recorded('contact.subscribed', 'pass', 'The contact was subscribed.', detail);
  return unsubscribedBefore(db, projectId, contact.id, at);
}

async function chosenBy(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  campaign: CampaignFacts,
  at: string,
): Promise<Decision[]> {
  const { segment, resendOf, resendSeq, correction, audienceType } = campaign;
  const source = campaignSource(campaign.id);
  if (resendOf !== null) {
    const earlier = { campaignId: resendOf, sendSeq: resendSeq, contactId: contact.id };
    const first = await findMail(db, projectId, earlier);
    const before = first === null ? await removedBefore(db, projectId, 'mail') : null;
    if (before !== null && (await db.session().em.count(CampaignLedgerSum, { campaignId: resendOf })) > 0)
      return [notKept('audience.not_kept', 'Mail of the earlier campaign', before)];
    if (correction !== null) return [gotEarlier(first, correction, resendOf, at)];
    const sentence = 'This campaign goes to contacts that an earlier one missed, and this contact was not among them.';
    const missed = first !== null && first.verdict !== 'handed_over';
    return [
      missed
        ? recorded('audience.resend', 'pass', 'The earlier campaign missed the contact.', {
            source: campaignSource(resendOf),
          })
        : recorded('audience.resend', 'stop', sentence, { source: campaignSource(resendOf) }),
    ];
  }
  if (audienceType === 'ALL') return [];
  const tree = audienceType === 'FILTERED' ? campaign.audienceCondition : segment?.condition;
  if (audienceType === 'SEGMENT' && segment === null)
    return [recorded('audience.segment', 'stop', 'The segment of this campaign was deleted.', { source })];
  if (segment?.type === 'STATIC' && audienceType === 'SEGMENT') {
    const since = await memberSince(db, segment.id, contact.id, at);
    const detail = { at: since, source: { type: 'segment', id: segment.id, href: `/segments/${segment.id}` } };
    return [
      since === null
        ? recorded('audience.segment', 'stop', `The contact was not in the segment "${segment.name}".`, detail)
        : recorded('audience.segment', 'pass', `The contact was in the segment "${segment.name}".`, detail),
    ];
  }
  return conditionDecisions(db, projectId, contact, tree, at);
}

const deeds: Record<EarlierRecipients['who'], string> = {
  got: 'got',
  opened: 'opened',
  clicked: 'clicked in',
  not_opened: 'did not open',
  not_clicked: 'did not click in',
};

/** Whether the earlier campaign's mail to the contact is one that a correction or a follow-up of it is about. */
function gotEarlier(
  first: ExplainedMail | null,
  { versions, who }: EarlierRecipients,
  earlierId: string,
  at: string,
): Decision {
  const names = `${versions.length === 1 ? 'version' : 'versions'} ${versions.join(', ')}`;
  const detail = { expected: versions, actual: first?.version ?? null, source: campaignSource(earlierId) };
  const isReached =
    first !== null && first.version !== null && versions.includes(first.version) && hasDone(first, who, at);
  return isReached
    ? recorded('audience.correction', 'pass', `The contact ${deeds[who]} ${names} of the earlier campaign.`, detail)
    : recorded(
        'audience.correction',
        'stop',
        `This campaign goes to contacts who ${deeds[who]} ${names} of an earlier one, and this contact was not among them.`,
        detail,
      );
}

/** Returns whether a contact had done this with a mail by an instant. */
function hasDone(mail: ExplainedMail, who: EarlierRecipients['who'], at: string): boolean {
  const { sentAt, updatedAt, openedAt, clickedAt, bouncedAt } = mail;
  const before = (instant: string | null) => instant !== null && Date.parse(instant) <= Date.parse(at);
  const done = {
    got: (sentAt ?? updatedAt) !== null,
    opened: openedAt !== null,
    clicked: clickedAt !== null,
    not_opened: !before(openedAt) && !before(clickedAt) && !before(bouncedAt),
    not_clicked: !before(clickedAt) && !before(bouncedAt),
  };
  return done[who];
}

/** The filters of a stored condition; one that can no longer be read matches nobody. */
export async function conditionDecisions(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  tree: unknown,
  at: string,
): Promise<Decision[]> {
  try {
    return (await traceCondition(db, projectId, contact, tree, new Date(at))).decisions;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const sentence = `The condition of the audience cannot be read: ${error.message}`;
    return [evaluated('audience.condition', 'stop', sentence, { dataAsOf: contact.readAt })];
  }
}
