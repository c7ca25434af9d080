import type { Tone } from '../../ui/Badge.tsx';
import { eventText, segmentMove } from '../../words/events.ts';
import { subjectText } from '../../words/subjects.ts';
import { leftOut } from '../emails/email.ts';

interface Kind {
  name: string;
  tone?: Tone;
}

/** How each kind of activity is named and meant. */
export const activityKinds: Record<string, Kind> = {
  'event.triggered': { name: 'Event' },
  'email.sent': { name: 'Email sent', tone: 'info' },
  'email.delivered': { name: 'Delivered', tone: 'good' },
  'email.received': { name: 'Email received', tone: 'info' },
  'email.opened': { name: 'Opened', tone: 'good' },
  'email.clicked': { name: 'Clicked', tone: 'good' },
  'email.bounced': { name: 'Bounced', tone: 'bad' },
  'email.complaint': { name: 'Complaint', tone: 'bad' },
  'email.failed': { name: 'Failed', tone: 'bad' },
  'email.suppressed': { name: 'Suppressed', tone: 'warn' },
  'campaign.sent': { name: 'Campaign sent', tone: 'info' },
  'campaign.scheduled': { name: 'Campaign scheduled', tone: 'info' },
  'workflow.started': { name: 'Workflow started' },
  'workflow.completed': { name: 'Workflow completed' },
  'workflow.email.scheduled': { name: 'Workflow email scheduled', tone: 'info' },
};

// Each of these events is an activity of its own as well.
const mailEvents = new Set([
  'email.sent',
  'email.delivery',
  'email.received',
  'email.open',
  'email.click',
  'email.bounce',
  'email.complaint',
  'email.failed',
]);

// How an execution ended, by the status of its run.
const ends: Record<string, Kind> = {
  COMPLETED: { name: 'Workflow completed', tone: 'good' },
  EXITED: { name: 'Workflow exited' },
  FAILED: { name: 'Workflow failed', tone: 'bad' },
  CANCELLED: { name: 'Workflow canceled', tone: 'warn' },
};

// Events that the service records by itself and that no other kind covers.
const serviceEvents: Record<string, Tone> = {
  'contact.subscribed': 'good',
  'contact.unsubscribed': 'warn',
  'campaign.sent': 'info',
  'campaign.paused': 'warn',
  'campaign.cancelled': 'warn',
  'campaign.held': 'warn',
  'workflow.finished': 'good',
  'workflow.failed': 'bad',
  'import.finished': 'info',
  'domain.verified': 'good',
  'domain.lost': 'bad',
};
const segmentMoves: Record<'entry' | 'exit', Kind> = {
  entry: { name: 'Entered segment' },
  exit: { name: 'Left segment' },
};

/** How an activity is named and meant. A mail that was left out because the contact is unsubscribed has not failed. */
export function kindOf({ type, metadata }: { type: string; metadata: Record<string, unknown> }): Kind {
  if (type === 'workflow.completed') return ends[String(metadata.status)] ?? { name: 'Workflow completed' };
  if (type === 'email.failed' && leftOut.has(metadata.errorCode)) return { name: 'Skipped', tone: 'warn' };
  const ofService = type === 'event.triggered' ? serviceKindOf(String(metadata.eventName)) : undefined;
  return ofService ?? activityKinds[type] ?? { name: type };
}

function serviceKindOf(event: string): Kind | undefined {
  const moved = segmentMove(event);
  if (moved) return segmentMoves[moved.move];
  const tone = serviceEvents[event];
  return tone && { name: eventText(event), tone };
}

/** The mail that an activity is about; its id is part of the item's. */
export function emailOf({ id, type }: { id: string; type: string }): string | null {
  return type.startsWith('email.') ? (/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(id)?.[0] ?? null) : null;
}

/** The workflow that an activity is about. */
export function workflowOf({ metadata }: { metadata: Record<string, unknown> }): string | null {
  return typeof metadata.workflowId === 'string' ? metadata.workflowId : null;
}

/** Reports whether another item of the feed shows the same: the event that stands for the outcome of an email. */
export function isDuplicate({ type, metadata }: { type: string; metadata: Record<string, unknown> }): boolean {
  return type === 'event.triggered' && mailEvents.has(String(metadata.eventName));
}

const texts = ['eventName', 'subject', 'error', 'campaignName', 'workflowName', 'exitReason', 'stepName'] as const;

/** Returns the subject of an activity in a few words: the first that its metadata has. */
export function subjectOf(metadata: Record<string, unknown>): string {
  const event = String(metadata.eventName);
  if (serviceKindOf(event) !== undefined) return aboutEvent(event, metadata.eventData);
  const all = texts.flatMap((key) => {
    const value = metadata[key];
    if (typeof value !== 'string' || value === '') return [];
    return [key === 'eventName' ? eventText(value) : subjectText(value)];
  });
  // A campaign is often called as its subject.
  const said = [...new Set(all)];
  const rule = metadata.suppressedBy;
  return [...said.slice(0, 2), ...(typeof rule === 'string' ? [`Suppressed by the rule “${rule}”`] : [])].join(' · ');
}

const names = ['campaignName', 'workflowName', 'filename', 'domain', 'reason'] as const;

// Why a subscription changed, where the service says it by a code.
const causes: Record<string, string> = {
  bounce: 'An email bounced',
  complaint: 'Reported as spam',
};

function aboutEvent(event: string, data: unknown): string {
  const moved = segmentMove(event);
  if (moved) return moved.segment;
  const said = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  return names
    .map((name) => said[name])
    .filter((value): value is string => typeof value === 'string' && value !== '')
    .map((value) => causes[value] ?? subjectText(value))
    .join(' · ');
}
