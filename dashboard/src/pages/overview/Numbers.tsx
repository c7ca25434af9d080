import { useQuery } from '@tanstack/react-query';
import { Figure } from '../../ui/Figure.tsx';
import { Card } from '../../ui/Page.tsx';
import { Problem } from '../../ui/States.tsx';
import { changeOf, count, rate } from '../../words/numbers.ts';
import { comparedDays, type MailCounts } from '../../words/ranges.ts';
import { mailByDay, mailTotals } from './mail.ts';
import { setupOf } from './setup.ts';

const shares = [
  ['Delivered', 'totalEmailsDelivered', 'delivered'],
  ['Opened', 'totalEmailsOpened', 'opens'],
  ['Clicked', 'totalEmailsClicked', 'clicks'],
  ['Bounced', 'totalEmailsBounced', 'bounces'],
] as const;

/** How many contacts there are, and what became of the mail of 30 days, beside the 30 days before. */
export function Numbers({ project }: { project: string }) {
  const setup = useQuery(setupOf(project));
  const totals = useQuery(mailTotals(project));
  const byDay = useQuery(mailByDay(project));
  const now = totals.data;
  const compared = byDay.data && comparedDays(byDay.data);
  const change = (key: keyof MailCounts) => (compared ? changeOf(compared.now[key], compared.before[key]) : '…');
  const sent = now?.totalEmailsHandedOver;
  return (
    <Card title="Last 30 days">
      {now === undefined && totals.error ? (
        <Problem error={totals.error} again={() => void totals.refetch()} />
      ) : (
        // The same tiles before the figures are there, so that nothing moves when they come.
        <div className="stack" aria-busy={now === undefined}>
          <dl className="figures sm:grid-cols-3 lg:grid-cols-6">
            <Figure name="Contacts" value={setup.data ? count(setup.data.data.contactCount) : '…'} more="In total" />
            <Figure name="Emails sent" value={sent === undefined ? '…' : count(sent)} more={change('emails')} />
            {shares.map(([name, total, key]) => (
              <Figure
                key={name}
                name={name}
                value={now && sent !== undefined ? rate(sent === 0 ? 0 : (now[total] / sent) * 100) : '…'}
                more={`${now ? count(now[total]) : '…'} · ${change(key)}`}
              />
            ))}
          </dl>
          <p className="text-sm text-muted">Changes in the number of emails are against the 30 days before.</p>
        </div>
      )}
    </Card>
  );
}
