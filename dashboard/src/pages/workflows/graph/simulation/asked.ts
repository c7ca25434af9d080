import { eventText } from '../../../../words/events.ts';
import { dayText } from '../../../../words/times.ts';
import type { StepType } from '../shapes.ts';

/** The contacts of a simulation: of the last month, in a segment, or chosen ones. */
export type Whom = 'month' | 'segment' | 'contacts';
/** What a simulation is compared with. `check` repeats runs in their own version, which tells how exact simulations are. */
export type Compared = 'live' | 'actual' | 'check' | 'none';

/** What is asked of a simulation. */
export interface Asked {
  whom: Whom;
  segmentId: string;
  segmentName: string;
  /** Chosen contacts by their IDs, with their names. */
  contacts: ReadonlyMap<string, string>;
  horizonDays: number;
  compare: Compared;
}

/** How many days the contacts of a simulation come from. */
export const monthDays = 30;
export const horizons = [7, 30, 90] as const;
/** Most contacts of a simulation, which the service keeps to. */
export const mostSimulated = 10_000;
const dayMs = 86_400_000;

/** A version of a graph, of those that the service lists. */
interface ListedVersion {
  version: number;
  share: number;
}

/** The version that most new contacts get; where none is in use, the newest, which may be older than the saved graph. Null without any. */
export function liveVersion<Version extends ListedVersion>(versions: readonly Version[]): Version | null {
  const [most] = [...versions].sort((one, other) => other.share - one.share || other.version - one.version);
  return most ?? null;
}

/** What a simulation of these contacts can be compared with: only an event tells who would have entered. */
export function comparisonsOf(whom: Whom, isByEvent: boolean, hasVersion: boolean): Compared[] {
  const recorded: Compared[] = ['actual', 'check'];
  if (whom === 'month' && !isByEvent) return recorded;
  return [...(hasVersion ? (['live'] as const) : []), ...recorded, 'none'];
}

/** What is asked at first. */
export function firstAsked(isByEvent: boolean, hasVersion: boolean): Asked {
  const compare = comparisonsOf('month', isByEvent, hasVersion)[0] ?? 'none';
  return { whom: 'month', segmentId: '', segmentName: '', contacts: new Map(), horizonDays: 30, compare };
}

/** The last month until an instant. */
function monthUntil(now: number): { from: string; until: string } {
  return { from: new Date(now - monthDays * dayMs).toISOString(), until: new Date(now).toISOString() };
}

/** Whether the contacts are named. */
export function isWhole({ whom, segmentId, contacts }: Asked): boolean {
  return whom === 'month' || (whom === 'segment' ? segmentId !== '' : contacts.size > 0);
}

/** The request of a simulation of a graph, which is left out where runs are repeated in their own versions. */
export function requestOf<Graph>(
  { whom, segmentId, contacts, horizonDays, compare }: Asked,
  graph: Graph,
  version: number | null,
  now: number,
) {
  const over =
    whom === 'month'
      ? { event: monthUntil(now) }
      : whom === 'segment'
        ? { segmentId }
        : { contactIds: [...contacts.keys()] };
  const other = compare === 'live' ? version : compare === 'none' ? null : ('actual' as const);
  return {
    over,
    horizon: `${horizonDays}d`,
    most: mostSimulated,
    futures: 'recorded' as const,
    ...(compare === 'check' ? {} : { graph }),
    ...(other === null ? {} : { compareWith: other }),
  };
}

/** Whether contacts enter by an event, by the trigger of a graph. */
export function isByEvent(steps: readonly { type: StepType; config: Record<string, unknown> }[]): boolean {
  return typeof steps.find(({ type }) => type === 'TRIGGER')?.config.eventName === 'string';
}

/** Says of what time and of whom the figures of a simulation are. */
export function whoseText(
  { whom, compare, segmentName, contacts, horizonDays }: Asked,
  eventName: string | null,
  live: ListedVersion | null,
  now: number,
): string {
  const { from, until } = monthUntil(now);
  const month = `from ${dayText(Date.parse(from))} to ${dayText(Date.parse(until))}`;
  const followed = `followed for up to ${horizonDays} days`;
  const segment = `in the segment “${segmentName}”`;
  const chosen = contacts.size === 1 ? 'chosen contact' : `${contacts.size} chosen contacts`;
  if (compare === 'actual' || compare === 'check') {
    const whose = { month: `that started ${month}`, segment: `of contacts ${segment}`, contacts: `of the ${chosen}` };
    return `Finished runs ${whose[whom]}, each ${followed}.`;
  }
  const who = {
    month: `Contacts with the event ${eventText(eventName ?? '')} ${month}`,
    segment: `Contacts ${segment}`,
    contacts: `The ${chosen}`,
  };
  const beside = compare === 'live' && live ? `, beside ${live.share > 0 ? 'live ' : ''}version ${live.version}` : '';
  return `${who[whom]}, each run ${followed}${beside}.`;
}
