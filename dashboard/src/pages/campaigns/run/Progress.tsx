import type { components } from '../../../api/schema.d.ts';
import { Figure } from '../../../ui/Figure.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { count, counted, rate } from '../../../words/numbers.ts';
import { subjectText } from '../../../words/subjects.ts';
import type { Campaign } from '../campaign.ts';
import { type Deed, deeds, RecipientsLink } from '../Ledger.tsx';
import { differenceText, type Rates } from '../rules/results.ts';

/** Counts and rates of a campaign. */
export type Stats = components['schemas']['GetCampaignStatsResult']['data'];

/** How far a campaign is, and what became of it so far; once it is sent, beside the usual rates of the campaigns before it. */
export function Progress({
  campaign,
  stats,
  usual,
  isSending,
}: {
  campaign: Campaign;
  stats: Stats;
  /** Null where there are no campaigns before it, undefined until they are known. */
  usual: Rates | null | undefined;
  isSending: boolean;
}) {
  const ended = stats.sentCount + stats.skippedCount + stats.failedCount;
  const beside = (key: keyof Rates) =>
    usual && !isSending ? `${rate(stats[key])}, ${differenceText(stats[key], usual[key])}` : rate(stats[key]);
  const figures = [
    ['bounced', 'Bounced', stats.bouncedCount, beside('bounceRate')],
    ['complained', 'Complaints', stats.complainedCount, rate(stats.complaintRate)],
    ['unsubscribed', 'Unsubscribed', stats.unsubscribedCount, beside('unsubscribeRate')],
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
        <Funnel
          steps={[
            ['sent', stats.sentCount, stats.sentCount === 0 ? 0 : 100, ''],
            ['delivered', stats.deliveredCount, stats.deliveryRate, beside('deliveryRate')],
            ['opened', stats.openedCount, stats.openRate, beside('openRate')],
            ['clicked', stats.clickedCount, stats.clickRate, beside('clickRate')],
          ]}
        />
        <dl className="figures sm:grid-cols-4">
          <Figure name="Recipients" value={count(stats.totalRecipients)} />
          {figures.map(([did, name, value, more]) => (
            <Figure
              key={did}
              name={value === 0 ? name : <RecipientsLink did={did}>{name}</RecipientsLink>}
              value={count(value)}
              more={more}
            />
          ))}
        </dl>
        <Facts campaign={campaign} stats={stats} />
      </div>
    </Card>
  );
}

/** When a campaign began, from whom, and with which content. */
function Facts({ campaign, stats }: { campaign: Campaign; stats: Stats }) {
  return (
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
  );
}

/** Steps of the way from sent to clicked, each with a bar as long as its share of what was sent, which leads to its recipients. */
function Funnel({ steps }: { steps: readonly (readonly [did: Deed, value: number, share: number, more: string])[] }) {
  return (
    <dl className="flex flex-col gap-2">
      {steps.map(([did, value, share, more]) => (
        <div
          key={did}
          data-slot="figure"
          className="relative grid grid-cols-[5.5rem_minmax(0,1fr)] items-center gap-x-3 @2xl:grid-cols-[5.5rem_5rem_minmax(0,1fr)_14rem]"
        >
          <dt className="text-sm text-muted [&_a]:after:absolute [&_a]:after:inset-0">
            {value === 0 ? deeds[did] : <RecipientsLink did={did}>{deeds[did]}</RecipientsLink>}
          </dt>
          <dd className="text-xl font-semibold tracking-tight tabular-nums">{count(value)}</dd>
          <dd aria-hidden className="h-4 rounded-sm bg-hover max-@2xl:col-span-2">
            <span className="block h-full rounded-sm bg-accent-solid" style={{ width: `${Math.min(100, share)}%` }} />
          </dd>
          <dd className="text-sm text-muted tabular-nums max-@2xl:col-span-2 empty:hidden">{more}</dd>
        </div>
      ))}
    </dl>
  );
}
