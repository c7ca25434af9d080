import type { Tone } from '../../ui/Badge.tsx';

/** How each kind of activity is named and meant. */
export const activityKinds: Record<string, { name: string; tone?: Tone }> = {
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
const ends: Record<string, { name: string; tone?: Tone }> = {
  COMPLETED: { name: 'Workflow completed', tone: 'good' },
  EXITED: { name: 'Workflow exited' },
  FAILED: { name: 'Workflow failed', tone: 'bad' },
  CANCELLED: { name: 'Workflow canceled', tone: 'warn' },
};

/** How an activity is named and meant. A mail that was left out because the contact is unsubscribed has not failed. */
export function kindOf({ type, metadata }: { type: string; metadata: Record<string, unknown> }): {
  name: string;
  tone?: Tone;
} {
  if (type === 'workflow.completed') return ends[String(metadata.status)] ?? { name: 'Workflow completed' };
  if (type === 'email.failed' && metadata.error === 'The contact is not subscribed')
    return { name: 'Skipped', tone: 'warn' };
  return activityKinds[type] ?? { name: type };
}

/** The mail that an activity is about; its id is part of the item's. */
export function emailOf({ id, type }: { id: string; type: string }): string | null {
  return type.startsWith('email.') ? (/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(id)?.[0] ?? null) : null;
}

/** The workflow that an activity is about. */
export function workflowOf({ metadata }: { metadata: Record<string, unknown> }): string | null {
  return typeof metadata.workflowId === 'string' ? metadata.workflowId : null;
}

/** Whether another item of the feed tells the same: the event that stands for what became of a mail. */
export function isToldTwice({ type, metadata }: { type: string; metadata: Record<string, unknown> }): boolean {
  return type === 'event.triggered' && mailEvents.has(String(metadata.eventName));
}

const texts = ['eventName', 'subject', 'error', 'campaignName', 'workflowName', 'exitReason', 'stepName'] as const;

/** What an activity is about, in a few words: the first of what its metadata say. */
export function subjectOf(metadata: Record<string, unknown>): string {
  const said = texts.map((key) => metadata[key]).filter((value) => typeof value === 'string' && value !== '');
  const rule = metadata.suppressedBy;
  return [...said.slice(0, 2), ...(typeof rule === 'string' ? [`Suppressed by the rule “${rule}”`] : [])].join(' · ');
}
