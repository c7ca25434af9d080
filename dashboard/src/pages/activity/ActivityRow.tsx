import { Badge } from '../../ui/Badge.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { kinds, subjectOf } from './kinds.ts';
import './activity.css';

/** An item of the feed, as the API answers it. */
export interface ActivityItem {
  id: string;
  type: string;
  timestamp: string;
  contactEmail?: string;
  metadata: Record<string, unknown>;
}

/** One thing that happened: what, to whom, when. */
export function ActivityRow({ item, who = true }: { item: ActivityItem; who?: boolean }) {
  const kind = kinds[item.type];
  return (
    <div className="activity-row">
      <Badge tone={kind?.tone}>{kind?.name ?? item.type}</Badge>
      <span className="break" dir="auto">
        {subjectOf(item.metadata)}
      </span>
      {who ? <span className="break muted">{item.contactEmail}</span> : null}
      <span className="muted">
        <Timestamp at={item.timestamp} />
      </span>
    </div>
  );
}
