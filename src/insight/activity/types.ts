import { badRequest } from '../../lib/errors.ts';
import { leastId } from '../../lib/ids.ts';
import { parseDate } from '../../lib/time.ts';

/** The place after which a page begins: an instant in milliseconds, and the item that stood there. */
interface FeedPlace {
  at: number;
  /** The item's id, and its parts. */
  item: string;
  prefix: string;
  uuid: string;
  suffix: string;
}

/** Where a source begins: at rows before this instant and id. */
export interface Bound {
  at: Date | null;
  uuid: string;
}

const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The cursor of the page after an item. */
export function cursorAfter(at: number, item: string): string {
  return `${at}_${item}`;
}

/**
 * Reads a cursor (docs/contract/platform.md#4-2): milliseconds, an underscore, and the item's id.
 * @throws 400 for what is no cursor of the feed
 */
export function readCursor(cursor: string): FeedPlace {
  const underscore = cursor.indexOf('_');
  const at = /^-?\d{1,16}$/.test(cursor.slice(0, underscore)) ? Number(cursor.slice(0, underscore)) : Number.NaN;
  const item = cursor.slice(underscore + 1);
  const [, prefix = '', uuid = '', suffix = ''] =
    /^([a-z]+_)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(_[a-z]+)?$/.exec(item) ?? [];
  const isOurs = sources.some((source) => source.prefix === prefix && source.suffix === suffix);
  if (underscore < 1 || uuid === '' || !isOurs || parseDate(at) === null)
    throw badRequest('"cursor" is not a cursor of this list: pass the value of the previous page unchanged', {
      field: 'cursor',
    });
  return { at, item, prefix, uuid, suffix };
}

/**
 * Where the rows of a source begin that stand after a place. Items of one instant are ordered by their ids as text, and
 * those of different sources differ in more than the UUID, hence the cases.
 */
export function boundAfter(place: FeedPlace, prefix: string, suffix: string): Bound {
  const at = new Date(place.at);
  if (prefix === place.prefix) {
    if (suffix < place.suffix) return upTo(at, place.uuid);
    return { at, uuid: place.uuid };
  }
  if (prefix === '') return upTo(at, lastBefore(place.prefix));
  // A prefix differs from any UUID in its first letters, so that its items of this instant come all before or all after.
  return { at: prefix < place.item ? new Date(place.at + 1) : at, uuid: leastId };
}

/** The place of the first row at or after an instant that does not belong to the feed. */
export function boundAt(until: Date | null): Bound {
  return { at: until, uuid: leastId };
}

/** The earlier of two bounds. */
export function earlier(one: Bound, other: Bound): Bound {
  const [first, second] = [one, other].map(({ at }) => at?.getTime() ?? Number.POSITIVE_INFINITY) as [number, number];
  if (first !== second) return first < second ? one : other;
  return one.uuid < other.uuid ? one : other;
}

// Everything at this instant up to the UUID, itself included.
function upTo(at: Date, uuid: string): Bound {
  if (uuid === highest) return { at: new Date(at.getTime() + 1), uuid: leastId };
  const next = (BigInt(`0x${uuid.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return { at, uuid: dashed(next) };
}

function dashed(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

// The greatest UUID whose text sorts before a prefix, which has a letter soon that is no hexadecimal digit.
function lastBefore(prefix: string): string {
  return dashed((/^[0-9a-f]*/.exec(prefix)?.[0] ?? '').padEnd(32, 'f'));
}

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
