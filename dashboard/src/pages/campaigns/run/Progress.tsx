import type { components } from '../../../api/schema.d.ts';
import { Figure } from '../../../ui/Figure.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { count, counted, rate } from '../../../words/numbers.ts';
import { subjectText } from '../../../words/subjects.ts';
import type { Campaign } from '../campaign.ts';

/** Counts and rates of a campaign. */
export type Stats = components['schemas']['GetCampaignStatsResult']['data'];

/** How far a campaign is, and what became of it so far. */
export function Progress({ campaign, stats, isSending }: { campaign: Campaign; stats: Stats; isSending: boolean }) {
  const ended = stats.sentCount + stats.skippedCount + stats.failedCount;
  const figures = [
    ['Recipients', stats.totalRecipients],
    ['Sent', stats.sentCount],
    ['Delivered', stats.deliveredCount, stats.deliveryRate],
    ['Opened', stats.openedCount, stats.openRate],
    ['Clicked', stats.clickedCount, stats.clickRate],
    ['Bounced', stats.bouncedCount, stats.bounceRate],
    ['Complaints', stats.complainedCount, stats.complaintRate],
    ['Unsubscribed', stats.unsubscribedCount, stats.unsubscribeRate],
  ] as const;
  return (
    <Card title={isSending ? 'Progress' : 'Results'}>
      <div className="stack">
        {isSending ? (
          <label className="field">
            <span>
              {count(ended)} of {counted(stats.totalRecipients, 'recipient')} processed
            </span>
            <progress max={Math.max(1, stats.totalRecipients)} value={ended} />
          </label>
        ) : null}
        <dl className="figures sm:grid-cols-4">
          {figures.map(([name, value, part]) => (
            <Figure key={name} name={name} value={count(value)} {...(part === undefined ? {} : { more: rate(part) })} />
          ))}
        </dl>
        <dl className="facts">
          <dt>Started</dt>
          <dd>
            <Timestamp at={campaign.sentAt} />
          </dd>
          <dt>From</dt>
          <dd>{campaign.from}</dd>
          <dt>Subject</dt>
          <dd dir="auto">{subjectText(campaign.subject)}</dd>
          {stats.versions.length > 1 ? (
            <>
              <dt>Versions</dt>
              <dd>
                {stats.versions.map(({ version, subject, sentCount, replacedAt }) => (
                  <div key={version}>
                    Version {version}: {count(sentCount)} sent, <bdi>{subjectText(subject)}</bdi>
                    {replacedAt ? (
                      <>
                        , replaced <Timestamp at={replacedAt} />
                      </>
                    ) : null}
                  </div>
                ))}
              </dd>
            </>
          ) : null}
        </dl>
      </div>
    </Card>
  );
}
