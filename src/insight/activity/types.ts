/** The types of the feed in the order of `GET /activity/types` (docs/contract/platform.md#4-1; the last two are additions). */
export const activityTypes = [
  'event.triggered',
  'email.sent',
  'email.delivered',
  'email.received',
  'email.opened',
  'email.clicked',
  'email.bounced',
  'email.complaint',
  'campaign.sent',
  'campaign.scheduled',
  'workflow.started',
  'workflow.completed',
  'workflow.email.scheduled',
  'email.failed',
  'email.suppressed',
] as const;
export type ActivityType = (typeof activityTypes)[number];

/** A kind of row that the feed pages through. */
export interface Source {
  type: ActivityType;
  /** How an item's id is made of the row's: docs/contract/platform.md#4-2. */
  prefix: string;
  suffix: string;
  /** Where its rows are. */
  rows: 'events' | 'mail' | 'suppressed' | 'campaigns' | 'runs';
  /** `mail`: the event that carries this instant of a mail in `mail_at`. */
  event: string | null;
  /** `runs`: the column of its instant, and that of its counts. */
  at?: 'started_at' | 'completed_at';
}

const mail = (type: ActivityType, suffix: string, event: string): Source => ({
  type,
  prefix: '',
  suffix,
  rows: 'mail',
  event,
});

/** The sources of the feed; queries name them by their place in this list. */
export const sources: readonly Source[] = [
  { type: 'event.triggered', prefix: '', suffix: '', rows: 'events', event: null },
  mail('email.sent', '_sent', 'email.sent'),
  mail('email.delivered', '_delivered', 'email.delivery'),
  mail('email.received', '_received', 'email.received'),
  mail('email.opened', '_opened', 'email.open'),
  mail('email.clicked', '_clicked', 'email.click'),
  mail('email.bounced', '_bounced', 'email.bounce'),
  mail('email.complaint', '_complaint', 'email.complaint'),
  { type: 'campaign.sent', prefix: 'campaign_', suffix: '_sent', rows: 'campaigns', event: null },
  { type: 'workflow.started', prefix: '', suffix: '_started', rows: 'runs', event: null, at: 'started_at' },
  { type: 'workflow.completed', prefix: '', suffix: '_completed', rows: 'runs', event: null, at: 'completed_at' },
  mail('email.failed', '_failed', 'email.failed'),
  // A suppressed mail has no event: its row in the ledger is the record.
  { type: 'email.suppressed', prefix: '', suffix: '_suppressed', rows: 'suppressed', event: null },
];

/** The types that a request asks for; all where it names none. Unknown names are dropped. */
export function typesOf(list: string | undefined): ReadonlySet<ActivityType> {
  if (list === undefined || list === '') return new Set(activityTypes);
  const named = list.split(',').map((name) => name.trim());
  return new Set(activityTypes.filter((type) => named.includes(type)));
}
