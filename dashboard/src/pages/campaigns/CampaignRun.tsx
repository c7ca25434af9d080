import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { usePart } from '../../standby/use-part.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Note, Problem, Shown } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { counted } from '../../words/numbers.ts';
import { Audit } from './Audit.tsx';
import { type Campaign, campaignState } from './campaign.ts';
import { CanaryCard } from './canary/CanaryCard.tsx';
import { Ledger } from './Ledger.tsx';
import { usualRates } from './rules/results.ts';
import { Comparison } from './run/Comparison.tsx';
import { HoursChart } from './run/HoursChart.tsx';
import { LinkMap } from './run/LinkMap.tsx';
import { Progress, type Stats } from './run/Progress.tsx';
import type { AskedOfRun, RunDialogsProps } from './run/RunDialogs.tsx';
import { type Results as CampaignResults, useResults } from './run/results.ts';

/** A campaign that has left: its progress, its results over time, and what became of every recipient. */
export function CampaignRun({ campaign, above }: { campaign: Campaign; above: ReactNode }) {
  const project = useProjectId();
  const { id, status, name } = campaign;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<AskedOfRun | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: ['campaigns', project] });
  const isSending = status === 'SENDING';
  // Its card says what it waits for.
  const isCanaryOpen = campaign.canary !== null && campaign.canary.state !== 'PASSED';
  const stats = useQuery({
    queryKey: ['campaigns', project, id, 'stats', isSending],
    placeholderData: keepPreviousData,
    refetchInterval: isSending ? 1_500 : 15_000,
    queryFn: async () => (await answer(api.GET('/campaigns/{id}/stats', { params: { path: { id } } }))).data,
  });
  const results = useResults(id, isSending);
  const usual = results.data && usualRates(results.data.earlier);
  const open = (campaignId: string) =>
    navigate({ to: '/app/$project/campaigns/$campaign', params: { project, campaign: campaignId } });
  const act = useMutation({
    mutationFn: (action: 'pause' | 'resume' | 'archive' | 'unarchive' | 'duplicate') =>
      answer<{ data: { id: string } }>(api.POST(`/campaigns/{id}/${action}`, { params: { path: { id } } })),
    onSuccess: async ({ data }, action) => {
      await refresh();
      if (action !== 'duplicate') return;
      toast('Campaign duplicated');
      await open(data.id);
    },
  });
  const missed = stats.data ? stats.data.skippedCount + stats.data.failedCount : 0;
  const state = campaignState(campaign);
  return (
    <Page
      title={name}
      above={above}
      about={<Badge tone={state.tone}>{state.name}</Badge>}
      actions={<Actions campaign={campaign} stats={stats.data} missed={missed} act={act} onAsk={setAsked} />}
    >
      <div className="stack">
        {act.error ? <Problem error={act.error} /> : null}
        {campaign.quietHours ? <QuietHoursNote {...campaign.quietHours} /> : null}
        {campaign.held && !campaign.hold && !campaign.quietHours && !isCanaryOpen ? (
          <Note tone="warn">{campaign.held}</Note>
        ) : null}
        <CanaryCard campaign={campaign} onChange={refresh} />
        <Shown query={stats}>
          {(result) => (
            <>
              <Progress campaign={campaign} stats={result} usual={usual} isSending={isSending} />
              <Shown query={results}>{(found) => <Results campaign={campaign} stats={result} results={found} />}</Shown>
            </>
          )}
        </Shown>
        <Ledger
          campaign={id}
          recipients={campaign.totalRecipients}
          isSending={isSending}
          hasVersions={campaign.contentVersion > 1}
        />
        <Audit campaign={id} recipients={campaign.totalRecipients} isSending={isSending} />
      </div>
      <Dialogs
        asked={asked}
        campaign={campaign}
        stats={stats.data}
        missed={missed}
        refresh={refresh}
        onOpen={open}
        onClose={() => setAsked(null)}
      />
    </Page>
  );
}

function QuietHoursNote({ contacts, until }: NonNullable<Campaign['quietHours']>) {
  return (
    <Note>
      On hold for {counted(contacts, 'contact')} in quiet hours, {contacts === 1 ? '' : 'the first '}until{' '}
      <Timestamp at={until} after />.
    </Note>
  );
}

// With the editor of emails, in which a campaign is corrected.
const loadDialogs = () => import('./run/RunDialogs.tsx');

function Dialogs(props: RunDialogsProps) {
  const part = usePart(loadDialogs, props.asked !== null);
  return part && props.asked ? <part.RunDialogs {...props} /> : null;
}

/** The actions for a campaign that has started. */
function Actions({
  campaign: { status, pausedAt, archived, contentVersion },
  stats,
  missed,
  act,
  onAsk,
}: {
  campaign: Campaign;
  stats: Stats | undefined;
  missed: number;
  act: { isPending: boolean; mutate: (action: 'pause' | 'resume' | 'archive' | 'unarchive' | 'duplicate') => void };
  onAsk: (asked: AskedOfRun) => void;
}) {
  // Who gets the content that is being sent is not known before it is.
  const isCorrectable = stats !== undefined && stats.sentCount > 0 && (status !== 'SENDING' || contentVersion > 1);
  return (
    <>
      {isCorrectable ? <Button onClick={() => onAsk('correct')}>Send correction</Button> : null}
      {status === 'SENDING' ? (
        <>
          {pausedAt && stats ? <Button onClick={() => onAsk('fix')}>Fix and continue</Button> : null}
          <Button busy={act.isPending} onClick={() => act.mutate(pausedAt ? 'resume' : 'pause')}>
            {pausedAt ? 'Resume' : 'Pause'}
          </Button>
          <Button variant="danger" onClick={() => onAsk('cancel')}>
            Stop sending
          </Button>
        </>
      ) : (
        <>
          {stats !== undefined && stats.sentCount > 0 ? (
            <Button onClick={() => onAsk('follow')}>Follow up</Button>
          ) : null}
          {missed > 0 ? <Button onClick={() => onAsk('resend')}>Resend to missed recipients</Button> : null}
          <Button busy={act.isPending} onClick={() => act.mutate(archived ? 'unarchive' : 'archive')}>
            {archived ? 'Unarchive' : 'Archive'}
          </Button>
        </>
      )}
      <Button busy={act.isPending} onClick={() => act.mutate('duplicate')}>
        Duplicate
      </Button>
    </>
  );
}

/** The results over time, by link, and beside earlier campaigns. */
function Results({
  campaign,
  stats,
  results: { hours, links, earlier },
}: {
  campaign: Campaign;
  stats: Stats;
  results: CampaignResults;
}) {
  return (
    <>
      <Card title="Over time">
        <HoursChart hours={hours} />
      </Card>
      <Card title="Clicks by link">
        <LinkMap campaign={campaign} links={links} />
      </Card>
      <Card title="Compared with earlier campaigns">
        <Comparison rates={stats} earlier={earlier} />
      </Card>
    </>
  );
}
