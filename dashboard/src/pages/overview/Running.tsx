import { Link } from '@tanstack/react-router';
import { Badge } from '../../ui/Badge.tsx';
import { Card } from '../../ui/Page.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { rate } from '../../words/numbers.ts';
import type { Overview } from './overview.ts';

type Item = Overview['running']['data'][number];

/** Shows the work under way, with its progress; nothing while there is none. */
export function Running({ project, items }: { project: string; items: readonly Item[] }) {
  if (items.length === 0) return null;
  return (
    <Card title="Running now">
      <ul className="stack" aria-label="Running now">
        {items.map((item) => (
          <Row key={`${item.type} ${item.id}`} project={project} item={item} />
        ))}
      </ul>
    </Card>
  );
}

function Row({ project, item }: { project: string; item: Item }) {
  const { type, name, progress, isPaused, startedAt } = item;
  const label = `${words[type]} ${name ?? ''}`.trim();
  return (
    <li className="stack gap-1">
      <div className="row">
        <Title project={project} item={item} />
        {isPaused ? <Badge tone="warn">Paused</Badge> : null}
        <span className="muted">
          {progress === null ? '' : `${rate(Math.floor(progress))} · `}started <Timestamp at={startedAt} />
        </span>
      </div>
      <progress aria-label={label} max={100} {...(progress === null ? {} : { value: progress })} />
    </li>
  );
}

const words: Record<Item['type'], string> = {
  campaign: 'Campaign',
  import: 'Import',
  bulk: 'Bulk job',
  migration: 'Migration of',
};

function Title({ project, item: { type, id, name } }: { project: string; item: Item }) {
  if (type === 'campaign')
    return (
      <Link to="/app/$project/campaigns/$campaign" params={{ project, campaign: id }} className="break" dir="auto">
        {name}
      </Link>
    );
  if (type === 'migration')
    return (
      <Link to="/app/$project/workflows/$workflow" params={{ project, workflow: id }} className="break" dir="auto">
        {words.migration} {name}
      </Link>
    );
  return (
    <span className="break" dir="auto">
      {words[type]}: {name}
    </span>
  );
}
