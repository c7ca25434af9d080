import { Link } from '@tanstack/react-router';
import { Badge } from '../../ui/Badge.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note } from '../../ui/States.tsx';
import { enoughMail, healthOf } from '../../words/health.ts';
import { count, counted, rate } from '../../words/numbers.ts';
import { levels } from '../deliverability/ReputationLimits.tsx';
import type { Overview } from './overview.ts';

/** How mail of the last seven days was received, and what endangers the project. */
export function Health({
  project,
  reputation: { status, isDisabled },
}: {
  project: string;
  reputation: Overview['reputation'];
}) {
  const { sevenDay } = status;
  const { level, sentences } = healthOf(status);
  const rows = [
    { name: 'Bounces', value: sevenDay.bounceRate, of: sevenDay.bounces },
    { name: 'Spam complaints', value: sevenDay.complaintRate, of: sevenDay.complaints },
  ];
  return (
    <Card title="Deliverability">
      <div className="stack">
        {isDisabled ? <Note tone="bad">Sending is paused for this project. Contact your administrator.</Note> : null}
        {level === null ? null : (
          <div className="row">
            <Badge tone={levels[level].tone}>{levels[level].name}</Badge>
          </div>
        )}
        {sentences.length > 0 ? (
          <Note tone={level === 'critical' ? 'bad' : 'warn'}>
            <ul>
              {sentences.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </Note>
        ) : null}
        <dl className="figures">
          {rows.map(({ name, value, of }) => (
            <div key={name} data-slot="figure">
              <dt className="text-sm text-muted">{name}, last 7 days</dt>
              <dd className="text-2xl font-semibold tracking-tight tabular-nums">{rate(value)}</dd>
              <dd className="text-sm text-muted">
                {count(of)} of {counted(sevenDay.total, 'email')}
              </dd>
            </div>
          ))}
        </dl>
        {sevenDay.total < enoughMail ? (
          <p className="text-sm text-muted">Rates are judged from {enoughMail} emails on.</p>
        ) : null}
        <p>
          <Link to="/app/$project/deliverability" params={{ project }} className="inline-block min-h-6">
            By domain and provider
          </Link>
        </p>
      </div>
    </Card>
  );
}
