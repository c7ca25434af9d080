import { segmentMove } from './events.ts';

/** An item of the feed, as the API returns it. */
export interface ActivityItem {
  id: string;
  type: string;
  timestamp: string;
  contactEmail?: string;
  contactId?: string;
  metadata: Record<string, unknown>;
}

/** Neighbors in the feed that say the same of many contacts, or a single item; never empty. */
export interface ActivityGroup {
  first: ActivityItem;
  items: readonly ActivityItem[];
}

/** Joins neighboring items that say that contacts entered, or left, the same segment; everything else stays by itself. */
export function groupedActivity(items: readonly ActivityItem[]): ActivityGroup[] {
  return joinedGroups(items.map((item) => ({ first: item, items: [item] })));
}

/** Joins neighboring groups of one segment, such as the last of a page and the first of the next. */
export function joinedGroups(groups: readonly ActivityGroup[]): ActivityGroup[] {
  const joined: { first: ActivityItem; items: ActivityItem[] }[] = [];
  for (const { first, items } of groups) {
    const last = joined.at(-1);
    const event = segmentEventOf(first);
    if (last && event !== null && event === segmentEventOf(last.first)) last.items.push(...items);
    else joined.push({ first, items: [...items] });
  }
  return joined;
}

function segmentEventOf({ type, metadata }: ActivityItem): string | null {
  const event = String(metadata.eventName);
  return type === 'event.triggered' && segmentMove(event) ? event : null;
}
