import { Link } from '@tanstack/react-router';
import { Card } from '../../ui/Page.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { count, counted, rate } from '../../words/numbers.ts';
import type { Overview } from './overview.ts';

/** The three campaigns that were sent last, each with its rates and the counts they come from; nothing while there is none. */
export function LastCampaigns({ project, campaigns }: { project: string; campaigns: Overview['campaigns'] }) {
  if (campaigns.length === 0) return null;
  return (
    <Card title="Latest campaigns">
      <ul className="stack" aria-label="Latest campaigns">
        {campaigns.map(({ id, name, sentAt, sentCount, openedCount, clickedCount }) => (
          <li key={id} className="stack gap-1">
            <div className="flex flex-wrap items-baseline justify-between gap-x-3">
              <Link
                to="/app/$project/campaigns/$campaign"
                params={{ project, campaign: id }}
                className="break inline-block min-h-6 font-medium"
                dir="auto"
              >
                {name}
              </Link>
              {sentAt ? (
                <span className="text-sm text-muted">
                  <Timestamp at={sentAt} />
                </span>
              ) : null}
            </div>
            <p className="flex flex-wrap gap-x-4 text-sm text-muted tabular-nums">
              <span>{counted(sentCount, 'email')} sent</span>
              <Share name="Opened" part={openedCount} of={sentCount} />
              <Share name="Clicked" part={clickedCount} of={sentCount} />
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Share({ name, part, of }: { name: string; part: number; of: number }) {
  return (
    <span>
      {name} <strong className="text-ink">{of === 0 ? '–' : rate((part / of) * 100)}</strong> ({count(part)})
    </span>
  );
}
