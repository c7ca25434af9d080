import { useState } from 'react';
import { Button } from '../../ui/Button.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import type { ActivityGroup } from '../../words/activity-groups.ts';
import { count } from '../../words/numbers.ts';
import { ActivityRow } from './ActivityRow.tsx';
import { kindOf, subjectOf } from './kinds.ts';

const most = 100;

/** One activity, or one line for many of the same kind, such as `1,342 entered segment “Members”`, that opens to show them. */
export function ActivityGroupRow({ group: { first, items }, who = true }: { group: ActivityGroup; who?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  if (items.length === 1) return <ActivityRow item={first} who={who} />;
  const verb = kindOf(first).name.toLowerCase();
  return (
    <div className="stack gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <span className="break font-medium tabular-nums" dir="auto">
          {count(items.length)} {verb} “{subjectOf(first.metadata)}”
        </span>
        <span className="muted">
          <Timestamp at={first.timestamp} />
        </span>
        <Button size="small" variant="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide' : 'Show'} entries
        </Button>
      </div>
      {isOpen ? (
        <ul className="stack gap-2 border-s border-line ps-3">
          {items.slice(0, most).map((item) => (
            <li key={item.id}>
              <ActivityRow item={item} who={who} />
            </li>
          ))}
          {items.length > most ? <li className="muted">The newest {count(most)} are shown.</li> : null}
        </ul>
      ) : null}
    </div>
  );
}
