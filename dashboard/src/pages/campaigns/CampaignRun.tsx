import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Figure } from '../../ui/Figure.tsx';
import { count, rate } from '../../ui/numbers.ts';
import { Card } from '../../ui/Page.tsx';
import { Note, Problem, Shown } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { Audit } from './Audit.tsx';
import type { Campaign } from './campaign.ts';
import { Ledger } from './Ledger.tsx';

/** A campaign that has left: its progress, its figures, and what became of every recipient. */
export function CampaignRun({ campaign }: { campaign: Campaign }) {
  const project = useProjectId();
  const { id, status, pausedAt, name } = campaign;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [cancelling, setCancelling] = useState(false);
  const path = { id };
  const refresh = () => queries.invalidateQueries({ queryKey: ['campaigns', project] });
  const isSending = status === 'SENDING';
  const stats = useQuery({
    queryKey: ['campaigns', project, id, 'stats', isSending],
    placeholderData: keepPreviousData,
    refetchInterval: isSending ? 1_500 : 15_000,
    queryFn: async () => (await answer(api.GET('/campaigns/{id}/stats', { params: { path } }))).data,
  });
  const act = useMutation({
    mutationFn: (action: 'pause' | 'resume' | 'archive' | 'unarchive' | 'duplicate' | 'resend') =>
      answer<{ data: { id: string } }>(api.POST(`/campaigns/{id}/${action}`, { params: { path } })),
    onSuccess: async ({ data }, action) => {
      await refresh();
      if (action === 'duplicate' || action === 'resend') {
        toast(action === 'resend' ? 'Sending to those who missed it' : 'Copied');
        await navigate({ to: '/app/$project/campaigns/$campaign', params: { project, campaign: data.id } });
      }
    },
  });
  return (
    <div className="stack">
      {act.error ? <Problem error={act.error} /> : null}
      {campaign.held ? <Note tone="warn">{campaign.held}</Note> : null}
      <div className="row">
        {isSending ? (
          <>
            <Button busy={act.isPending} onClick={() => act.mutate(pausedAt ? 'resume' : 'pause')}>
              {pausedAt ? 'Go on' : 'Pause'}
            </Button>
            <Button look="danger" onClick={() => setCancelling(true)}>
              Cancel the rest
            </Button>
          </>
        ) : (
          <>
            <Button busy={act.isPending} onClick={() => act.mutate('resend')}>
              Send to those who missed it
            </Button>
            <Button busy={act.isPending} onClick={() => act.mutate(campaign.archived ? 'unarchive' : 'archive')}>
              {campaign.archived ? 'Take out of the archive' : 'Archive'}
            </Button>
          </>
        )}
        <Button busy={act.isPending} onClick={() => act.mutate('duplicate')}>
          Copy as a new draft
        </Button>
      </div>
      <Shown query={stats}>
        {(told) => {
          const ended = told.sentCount + told.skippedCount + told.failedCount;
          return (
            <Card title={isSending ? 'Progress' : 'Figures'}>
              <div className="stack">
                {isSending ? (
                  <label className="field">
                    <span>
                      {count(ended)} of {count(told.totalRecipients)} have their verdict
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
                  <Figure name="Unsubscribed" value={count(told.unsubscribedCount)} more={rate(told.unsubscribeRate)} />
                </dl>
                <dl className="facts">
                  <dt>Began</dt>
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
      <Audit campaign={id} isSending={isSending} />
      <Ledger campaign={id} isSending={isSending} />
      {cancelling ? (
        <ConfirmDialog
          title={`Cancel ${name}`}
          action="Cancel the rest"
          onConfirm={async () => {
            const { message } = await answer(api.POST('/campaigns/{id}/cancel', { params: { path } }));
            toast(message, 'info');
            await refresh();
          }}
          onClose={() => setCancelling(false)}
        >
          Whoever has not been written to yet gets nothing. What has left cannot be called back.
        </ConfirmDialog>
      ) : null}
    </div>
  );
}
