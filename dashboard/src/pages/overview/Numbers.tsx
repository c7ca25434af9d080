import { Figure } from '../../ui/Figure.tsx';
import { Card } from '../../ui/Page.tsx';
import { changeOf, count, rate } from '../../words/numbers.ts';
import { comparedDays, type MailCounts } from '../../words/ranges.ts';
import type { Overview } from './overview.ts';

const shares = [
  ['Delivered', 'totalEmailsDelivered', 'delivered'],
  ['Opened', 'totalEmailsOpened', 'opens'],
  ['Clicked', 'totalEmailsClicked', 'clicks'],
  ['Bounced', 'totalEmailsBounced', 'bounces'],
] as const;

/** How many contacts there are, and what became of the mail of 30 days, beside the 30 days before. */
export function Numbers({ overview: { setup, totals, days } }: { overview: Overview }) {
  const compared = comparedDays(days);
  const change = (key: keyof MailCounts) => changeOf(compared.now[key], compared.before[key]);
  const sent = totals.totalEmailsHandedOver;
  return (
    <Card title="Last 30 days">
      <div className="stack">
        <dl className="figures sm:grid-cols-3 lg:grid-cols-6">
          <Figure name="Contacts" value={count(setup.contactCount)} more="In total" />
          <Figure name="Emails sent" value={count(sent)} more={change('emails')} />
          {shares.map(([name, total, key]) => (
            <Figure
              key={name}
              name={name}
              value={rate(sent === 0 ? 0 : (totals[total] / sent) * 100)}
              more={`${count(totals[total])} · ${change(key)}`}
            />
          ))}
        </dl>
        <p className="text-sm text-muted">Changes in the number of emails are against the 30 days before.</p>
      </div>
    </Card>
  );
}
