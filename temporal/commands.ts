import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';

/** A value as JSON carries it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** The kinds of task queues: work of one kind never waits behind work of another. */
export const queueKinds = ['mail', 'campaign', 'automation', 'bulk', 'http'] as const;
/** The kind of a task queue; `taskQueue` makes its name. */
export type QueueKind = (typeof queueKinds)[number];

/** Name of a task queue: `fernpost-mail` for the prefix `fernpost` (setting TEMPORAL_TASK_QUEUE). */
export function taskQueue(prefix: string, kind: QueueKind): string {
  return `${prefix}-${kind}`;
}

/** Name of another queue of the same installation; workflows know only the name of their own. */
export function siblingQueue(own: string, kind: QueueKind): string {
  return taskQueue(own.replace(/-[^-]*$/, ''), kind);
}

/** Every workflow type and the queue it runs on. A released type is never renamed: open executions are found by it. */
export const workflowQueues = {
  emailDelivery: 'mail',
  campaignSend: 'campaign',
  dryRun: 'campaign',
  importContacts: 'bulk',
  bulkContacts: 'bulk',
  reconcile: 'bulk',
  retention: 'bulk',
  domainSweep: 'bulk',
  usageSweep: 'bulk',
  segmentSweep: 'bulk',
  segmentCompute: 'bulk',
  automation: 'automation',
  systemMail: 'mail',
  wipeProject: 'bulk',
  enrolScheduled: 'bulk',
  migrateAutomation: 'bulk',
  webhookFeed: 'bulk',
  eraseContact: 'bulk',
} as const satisfies Record<string, QueueKind>;
/** Name of a workflow type. */
export type WorkflowType = keyof typeof workflowQueues;

/** Makes workflow ids from row ids, so that the same work cannot be started twice. */
export const workflowId = {
  /** The delivery of a project's mail that is no campaign's. */
  delivery: (projectId: string) => `delivery/${projectId}`,
  /** One send of a campaign. */
  campaign: (campaignId: string, sendSeq: number) => `campaign/${campaignId}/${sendSeq}`,
  /** A review of a campaign before it is sent; `n` counts them. */
  dryRun: (campaignId: string, n: number) => `dry-run/${campaignId}/${n}`,
  /** The import of a CSV file. */
  import: (jobId: string) => `import/${jobId}`,
  /** A change of many contacts. */
  bulk: (jobId: string) => `bulk/${jobId}`,
  /** The compute of a project's tracked segments. */
  segments: (projectId: string) => `segments/${projectId}`,
  /** One contact in an automation; `entry` counts its enrollments. */
  automation: (automationId: string, contactId: string, entry: number) =>
    `automation/${automationId}/${contactId}/${entry}`,
  /** A mail of the service itself. */
  systemMail: (mailId: string) => `system-mail/${mailId}`,
  /** The reset or removal of a project. */
  wipe: (wipeId: string) => `wipe/${wipeId}`,
  /** A migration of the contacts inside an automation. */
  automationMigration: (migrationId: string) => `automation-migration/${migrationId}`,
  /** The webhooks of one endpoint. */
  webhookFeed: (endpointId: string) => `webhook-feed/${endpointId}`,
  /** The erasure of a contact. */
  erase: (erasureId: string) => `erase/${erasureId}`,
  /** The execution that the schedule of an automation starts; Temporal appends the time. */
  enrol: (automationId: string) => `enrol/${automationId}`,
} as const;

/** The id of the schedule that starts an automation. */
export function workflowScheduleId(automationId: string): string {
  return `workflow-schedule/${automationId}`;
}

/** Names of the signals. All of them mean "re-check the row": a lost, repeated or late one does no harm. */
export const signals = {
  /** emailDelivery and campaignSend: rows have changed. */
  wake: 'wake',
  /** automation: the row of the run has changed; the argument is `{ seq }`. */
  resume: 'resume',
} as const;

/** The number of a signal that wakes an execution wherever it is: above that of any step, so also one behind its row or ahead of it. */
export const anySeq = 2_147_483_647;

/** Names of the queries. */
export const queries = {
  /** campaignSend, emailDelivery, importContacts and bulkContacts: phase and counts, for the Temporal Web UI. */
  progress: 'progress',
  /** automation: the step, since when it is there, and what it waits for, for the Temporal Web UI. */
  where: 'where',
} as const;

/**
 * Cuts a part of a summary of a timer or an activity to so many UTF-16 units. Servers refuse tasks with a summary of more than
 * 400 bytes of UTF-8, of which one unit needs up to three.
 */
export function briefly(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/**
 * Search attributes by name: for operators, never read by the service. They are stored unencrypted, so they hold ids and
 * fixed words, never addresses or names. SQL visibility stores allow about ten keywords and three of each other type.
 */
export const searchAttribute = {
  ProjectId: defineSearchAttributeKey('ProjectId', 'KEYWORD'),
  ContactId: defineSearchAttributeKey('ContactId', 'KEYWORD'),
  CampaignId: defineSearchAttributeKey('CampaignId', 'KEYWORD'),
  AutomationId: defineSearchAttributeKey('AutomationId', 'KEYWORD'),
  ExecutionId: defineSearchAttributeKey('ExecutionId', 'KEYWORD'),
  Kind: defineSearchAttributeKey('Kind', 'KEYWORD'),
  State: defineSearchAttributeKey('State', 'KEYWORD'),
  WaitingFor: defineSearchAttributeKey('WaitingFor', 'KEYWORD'),
  DueAt: defineSearchAttributeKey('DueAt', 'DATETIME'),
  Recipients: defineSearchAttributeKey('Recipients', 'INT'),
  Failed: defineSearchAttributeKey('Failed', 'INT'),
} as const;

/** The time of a schedule that an execution is for; Temporal sets it. */
export const scheduledStartTime = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

/** Values of search attributes as JSON; `DueAt` is an ISO instant. */
export type SearchAttributeValues = {
  readonly [Name in keyof typeof searchAttribute]?: (typeof searchAttribute)[Name]['type'] extends 'INT'
    ? number
    : string;
};

/** The SDK's form of search attributes. */
export function searchAttributePairs(values: SearchAttributeValues): SearchAttributePair[] {
  return Object.entries(values).map(([name, value]) => {
    const key = searchAttribute[name as keyof typeof searchAttribute];
    return { key, value: key.type === 'DATETIME' ? new Date(value) : value } as SearchAttributePair;
  });
}

/** The input of a new execution, and what it shows to operators; ids and small values only, content never travels. */
export interface Launch {
  workflow: WorkflowType;
  /** The workflow id, from `workflowId`. */
  id: string;
  /** The one argument of the workflow. */
  input: Json;
  searchAttributes?: SearchAttributeValues;
  /** Names for the Web UI; no addresses, subjects or contact data. */
  memo?: { readonly [key: string]: Json };
  /** One line of Markdown for the list of executions; longer than 200 bytes is cut. */
  staticSummary?: string;
  /** Markdown for the page of the execution, up to 20 kB. */
  staticDetails?: string;
}

/** Starts an execution; one that exists already, open or closed, counts as done. */
export interface StartCommand extends Launch {
  type: 'start';
  /**
   * Set where a row is still active although its execution has ended: a closed execution of this id does not count,
   * and the command is told apart from the first start by this key.
   */
  restart?: string;
  /** An open execution of this id is terminated first: it does not react, and its row holds all there is to know. */
  replace?: true;
}

/** Signals an open execution. Without one, its row decides: still active means it is started again. */
export interface SignalCommand {
  type: 'signal';
  id: string;
  signal: string;
  input?: Json;
  /** Two commands with the same key are one. Without it every command counts. */
  dedupeKey?: string;
}

/** Asks an open execution to cancel; without one there is nothing to do. */
interface CancelCommand {
  type: 'cancel';
  id: string;
  /** Two commands with the same key are one. Without it every command counts. */
  dedupeKey?: string;
}

/** Times of the day, in the order of clock and calendar; a time belongs when each of its parts is listed. */
export interface CalendarTimes {
  minute: readonly number[];
  hour: readonly number[];
  /** 1 to 31. */
  dayOfMonth: readonly number[];
  /** 1 to 12. */
  month: readonly number[];
  /** 0 is Sunday. */
  dayOfWeek: readonly number[];
}

/** Makes a schedule of Temporal, or brings it in line: from then on it starts an execution at each of its times. */
export interface ScheduleCommand {
  type: 'schedule';
  /** The schedule's id, from `workflowScheduleId`. */
  id: string;
  /** The execution that it starts; Temporal appends the time to the ID. */
  launch: Omit<Launch, 'memo'>;
  calendars: readonly CalendarTimes[];
  timezone: string;
  /** Counts the changes of the row behind it. A schedule of a later revision is left alone. */
  revision: number;
}

/** Removes a schedule; without one there is nothing to do. */
interface UnscheduleCommand {
  type: 'unschedule';
  id: string;
  /** As in `ScheduleCommand`: told apart from other removals by it. */
  revision: number;
}

/** A call to Temporal that must happen once the transaction that asks for it has committed. Plain JSON. */
export type Command = (StartCommand | SignalCommand | CancelCommand | ScheduleCommand | UnscheduleCommand) & {
  /** `traceparent` of the request that asked for it, where that is traced. */
  trace?: string;
};

/** The header that carries a trace context to an execution: that of Temporal's own interceptors for OpenTelemetry, so that clients with those can join. */
export const traceHeader = '_tracer-data';
