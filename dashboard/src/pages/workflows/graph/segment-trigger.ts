import { segmentEvent, segmentSlug } from '@fernpost/workflow-graph';
import { segmentMove } from '../../../words/events.ts';

interface Segment {
  id: string;
  name: string;
  trackMembership: boolean;
}

/** What starts a workflow at an event: one that an app tracks, or that a contact enters or leaves a segment. */
export type EventKind = 'event' | 'entry' | 'exit';

/** The segments with events, by slug and name, in the order of their names; and how many have none because they are not tracked. */
export function segmentChoices(segments: readonly Segment[]): {
  tracked: { slug: string; name: string }[];
  untracked: number;
} {
  const names = new Map<string, string[]>();
  for (const segment of segments.filter(({ trackMembership }) => trackMembership)) {
    const slug = segmentSlug(segment);
    // Segments whose names differ only in signs share their events.
    names.set(slug, [...(names.get(slug) ?? []), segment.name]);
  }
  const tracked = [...names].map(([slug, own]) => ({ slug, name: own.join(', ') }));
  return {
    tracked: tracked.sort((one, other) => one.name.localeCompare(other.name)),
    untracked: segments.filter(({ trackMembership }) => !trackMembership).length,
  };
}

/** The kind of an event by its name; while there is none, the kind that was `chosen`, which also keeps a segment's event typed as text. */
export function kindOf(eventName: string, chosen: EventKind | null): EventKind {
  const move = segmentMove(eventName)?.move;
  if (eventName === '') return chosen ?? 'event';
  return chosen === 'event' || move === undefined ? 'event' : move;
}

/** The event name after a change of the kind: a segment stays chosen where it can. */
export function eventOfKind(eventName: string, kind: EventKind): string {
  const moved = segmentMove(eventName);
  if (kind === 'event') return moved ? '' : eventName;
  return moved ? segmentEvent(moved.segment, kind) : '';
}
