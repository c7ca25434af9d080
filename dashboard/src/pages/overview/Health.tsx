import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note, Shown } from '../../ui/States.tsx';
import { count, counted, rate } from '../../words/numbers.ts';

// Below this much mail no rate pauses a project.
const enoughMail = 100;

const levels: Record<'healthy' | 'warning' | 'critical', { name: string; tone: Tone }> = {
  healthy: { name: 'Healthy', tone: 'good' },
  warning: { name: 'High', tone: 'warn' },
  critical: { name: 'Too high', tone: 'bad' },
};

/** How mail of the last seven days was received, and what endangers the project. */
export function Health({ project }: { project: string }) {
  const security = useQuery({
    queryKey: ['security', project],
    refetchInterval: 30_000,
    queryFn: () => answer(api.GET('/projects/{id}/security', { params: { path: { id: project } } })),
  });
  return (
    <Card title="Deliverability">
      <Shown query={security}>
        {({ data: { status, levels: found, isDisabled } }) => {
          const sentences = [...status.violations, ...status.warnings];
          const rows = [
            {
              name: 'Bounces',
              value: status.sevenDay.bounceRate,
              of: status.sevenDay.bounces,
              level: found.bounce7Day,
            },
            {
              name: 'Spam complaints',
              value: status.sevenDay.complaintRate,
              of: status.sevenDay.complaints,
              level: found.complaint7Day,
            },
          ];
          return (
            <div className="stack">
              {isDisabled ? (
                <Note tone="bad">Sending is paused for this project. Contact your administrator.</Note>
              ) : null}
              {sentences.length > 0 ? (
                <Note tone={status.violations.length > 0 ? 'bad' : 'warn'}>
                  <ul>
                    {sentences.map((sentence) => (
                      <li key={sentence}>{sentence}</li>
                    ))}
                  </ul>
                </Note>
              ) : null}
              <dl className="figures">
                {rows.map(({ name, value, of, level }) => (
                  <div key={name} data-slot="figure">
                    <dt className="text-sm text-muted">{name}, last 7 days</dt>
                    <dd className="text-2xl font-semibold tracking-tight tabular-nums">{rate(value)}</dd>
                    <dd className="row text-sm text-muted">
                      {status.sevenDay.total < enoughMail ? null : (
                        <Badge tone={levels[level].tone}>{levels[level].name}</Badge>
                      )}
                      {count(of)} of {counted(status.sevenDay.total, 'email')}
                    </dd>
                  </div>
                ))}
              </dl>
              {status.sevenDay.total < enoughMail ? (
                <p className="text-sm text-muted">Rates are judged from {enoughMail} emails on.</p>
              ) : null}
              <p>
                <Link to="/app/$project/deliverability" params={{ project }} className="inline-block min-h-6">
                  By domain and provider
                </Link>
              </p>
            </div>
          );
        }}
      </Shown>
    </Card>
  );
}
