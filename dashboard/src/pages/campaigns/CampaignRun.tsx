import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Figure } from '../../ui/Figure.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Note, Problem, Shown } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { count, counted, rate } from '../../words/numbers.ts';
import { Audit } from './Audit.tsx';
import { type Campaign, states } from './campaign.ts';
import { Ledger } from './Ledger.tsx';

/** A campaign that has left: its progress, its figures, and what became of every recipient. */
export function CampaignRun({ campaign, above }: { campaign: Campaign; above: ReactNode }) {
  const project = useProjectId();
  const { id, status, pausedAt, name } = campaign;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'cancel' | 'resend' | null>(null);
  const path = { id };
  const refresh = () => queries.invalidateQueries({ queryKey: ['campaigns', project] });
  const isSending = status === 'SENDING';
  const stats = useQuery({
    queryKey: ['campaigns', project, id, 'stats', isSending],
    placeholderData: keepPreviousData,
    refetchInterval: isSending ? 1_500 : 15_000,
    queryFn: async () => (await answer(api.GET('/campaigns/{id}/stats', { params: { path } }))).data,
  });
  const open = (campaignId: string) =>
    navigate({ to: '/app/$project/campaigns/$campaign', params: { project, campaign: campaignId } });
  const act = useMutation({
    mutationFn: (action: 'pause' | 'resume' | 'archive' | 'unarchive' | 'duplicate') =>
      answer<{ data: { id: string } }>(api.POST(`/campaigns/{id}/${action}`, { params: { path } })),
    onSuccess: async ({ data }, action) => {
      await refresh();
      if (action === 'duplicate') {
        toast('Campaign duplicated');
        await open(data.id);
      }
    },
  });
  const missed = stats.data ? stats.data.skippedCount + stats.data.failedCount : 0;
  const state = states[status];
  return (
    <Page
      title={name}
      above={above}
      about={<Badge tone={pausedAt ? 'warn' : state.tone}>{pausedAt ? 'Paused' : state.name}</Badge>}
      actions={
        <>
          {isSending ? (
            <>
              <Button busy={act.isPending} onClick={() => act.mutate(pausedAt ? 'resume' : 'pause')}>
                {pausedAt ? 'Resume' : 'Pause'}
              </Button>
              <Button look="danger" onClick={() => setAsked('cancel')}>
                Stop sending
              </Button>
            </>
          ) : (
            <>
              {missed > 0 ? <Button onClick={() => setAsked('resend')}>Resend to missed recipients</Button> : null}
              <Button busy={act.isPending} onClick={() => act.mutate(campaign.archived ? 'unarchive' : 'archive')}>
                {campaign.archived ? 'Unarchive' : 'Archive'}
              </Button>
            </>
          )}
          <Button busy={act.isPending} onClick={() => act.mutate('duplicate')}>
            Duplicate
          </Button>
        </>
      }
    >
      <div className="stack">
        {act.error ? <Problem error={act.error} /> : null}
        {campaign.held ? <Note tone="warn">{campaign.held}</Note> : null}
        <Shown query={stats}>
          {(told) => {
            const ended = told.sentCount + told.skippedCount + told.failedCount;
            return (
              <Card title={isSending ? 'Progress' : 'Results'}>
                <div className="stack">
                  {isSending ? (
                    <label className="field">
                      <span>
                        {count(ended)} of {counted(told.totalRecipients, 'recipient')} processed
                      </span>
                      <progress max={Math.max(1, told.totalRecipients)} value={ended} />
                    </label>
                  ) : null}
                  <dl className="figures">
                    <Figure name="Recipients" value={count(told.totalRecipients)} />
                    <Figure name="Sent" value={count(told.sentCount)} />
                    <Figure name="Delivered" value={count(told.deliveredCount)} more={rate(told.deliveryRate)} />
                    <Figure name="Opened" value={count(told.openedCount)} more={rate(told.openRate)} />
                    <Figure name="Clicked" value={count(told.clickedCount)} more={rate(told.clickRate)} />
                    <Figure name="Bounced" value={count(told.bouncedCount)} more={rate(told.bounceRate)} />
                    <Figure name="Complaints" value={count(told.complainedCount)} more={rate(told.complaintRate)} />
                    <Figure
                      name="Unsubscribed"
                      value={count(told.unsubscribedCount)}
                      more={rate(told.unsubscribeRate)}
                    />
                  </dl>
                  <dl className="facts">
                    <dt>Started</dt>
                    <dd>
                      <Timestamp at={campaign.sentAt} />
                    </dd>
                    <dt>From</dt>
                    <dd>{campaign.from}</dd>
                    <dt>Subject</dt>
                    <dd dir="auto">{campaign.subject}</dd>
                  </dl>
                </div>
              </Card>
            );
          }}
        </Shown>
        <Audit campaign={id} recipients={campaign.totalRecipients} isSending={isSending} />
        <Ledger campaign={id} isSending={isSending} />
      </div>
      {asked === 'cancel' ? (
        <ConfirmDialog
          title={`Stop sending ${name}?`}
          action="Stop sending"
          wayOut="Keep going"
          onConfirm={async () => {
            const { message } = await answer(api.POST('/campaigns/{id}/cancel', { params: { path } }));
            toast(message, 'info');
            await refresh();
          }}
          onClose={() => setAsked(null)}
        >
          Recipients who haven’t received the campaign yet won’t get it. Emails already sent can’t be recalled.
        </ConfirmDialog>
      ) : null}
      {asked === 'resend' ? (
        <ConfirmDialog
          title={`Resend ${name} to missed recipients?`}
          action="Resend now"
          look="primary"
          onConfirm={async () => {
            const { data } = await answer(api.POST('/campaigns/{id}/resend', { params: { path } }));
            toast('Resending to missed recipients');
            await refresh();
            await open(data.id);
          }}
          onClose={() => setAsked(null)}
        >
          {counted(missed, 'recipient was', 'recipients were')} skipped or failed. Those who can receive it now get it
          in a new campaign, which starts immediately.
        </ConfirmDialog>
      ) : null}
    </Page>
  );
}
