// Sets of values that several subjects name. They stand below all subjects because workflows use them, and subjects below campaigns and
// automations ask which of those are at work. Mail has statuses of its own (src/mail/status.ts).

/** The statuses of a campaign (docs/contract/campaigns-and-workflows.md#2-2). */
export const CampaignStatus = {
  DRAFT: 'DRAFT',
  SCHEDULED: 'SCHEDULED',
  /** Also while it is paused. */
  SENDING: 'SENDING',
  SENT: 'SENT',
  CANCELLED: 'CANCELLED',
} as const;
export type CampaignStatus = keyof typeof CampaignStatus;

/** Every status, in the order of a campaign's life. */
export const campaignStatuses = Object.values(CampaignStatus);

const group = groupsOf<CampaignStatus>();

/** Nothing was sent yet: the campaign can be edited, reviewed, scheduled and sent. */
export const editableStatuses = group('DRAFT', 'SCHEDULED');
/** The campaign sends by itself, now or at its time: it has to be cancelled before it can be archived or deleted. */
export const openStatuses = group('SCHEDULED', 'SENDING');
/** The campaign goes out, or may: what it uses has to stay. */
export const unfinishedStatuses = group('DRAFT', 'SCHEDULED', 'SENDING');
/** An execution works on the campaign until its send is closed. */
export const executedStatuses = group('SCHEDULED', 'SENDING', 'CANCELLED');
/** A send has begun and may have recipients without a verdict. */
export const pendingStatuses = group('SENDING', 'CANCELLED');
/** The send is over, or will be as soon as what was cancelled is cleaned up. */
export const finishedStatuses = group('SENT', 'CANCELLED');

/** Every status of a run, which is one contact's way through an automation. */
export const runStatuses = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The contact is in the automation: every other status is final. Partial indexes of `automation_runs` hold these runs only. */
export const activeStatuses = groupsOf<RunStatus>()('RUNNING', 'WAITING');

/** Every status of a step's execution. */
export const stepRunStatuses = [
  'PENDING',
  'SCHEDULED',
  'WAITING',
  'RUNNING',
  'COMPLETED',
  'SKIPPED',
  'FAILED',
] as const;
export type StepRunStatus = (typeof stepRunStatuses)[number];

/** The run is at the step: every other status is final. */
export const openStepStatuses = groupsOf<StepRunStatus>()('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING');

/** Which rules of subscription, footer and headers a mail follows (docs/contract/core.md#2-5). */
export type MessageClass = 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS';

/** The source of a mail. */
export type SourceType = 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW';

/** A group of the statuses of one kind; those of another kind are no question for it. */
interface StatusGroup<Kind extends string, Status extends Kind> {
  readonly all: readonly Status[];
  has(status: Kind): status is Status;
  /** The group as SQL, such as `('DRAFT', 'SCHEDULED')`. */
  sql: string;
}

/** What makes groups of the statuses of a kind. */
export function groupsOf<Kind extends string>() {
  return <Status extends Kind>(...all: Status[]): StatusGroup<Kind, Status> => {
    const known: ReadonlySet<string> = new Set(all);
    return {
      all,
      has: (status): status is Status => known.has(status),
      sql: `(${all.map((status) => `'${status}'`).join(', ')})`,
    };
  };
}

/** Roles of users in a project, least first (docs/contract/platform.md#1-2). */
export const roles = ['MEMBER', 'ADMIN', 'OWNER'] as const;
export type Role = (typeof roles)[number];

/** Whether a role includes the rights of another. */
export function roleIncludes(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** Permissions of keys (docs/contract/reach.md#3); a route names the one it needs. */
export const scopes = [
  'emails:send',
  'emails:read',
  'events:write',
  'contacts:read',
  'contacts:write',
  'contacts:erase',
  'templates',
  'campaigns:read',
  'campaigns:write',
  'campaigns:send',
  'workflows:read',
  'workflows:write',
  'webhooks',
  'explain',
  'audit',
] as const;
export type Scope = (typeof scopes)[number];

/** The name of the cookie that carries a session; the API reference names it too. */
export const sessionCookie = 'fernpost_session';
