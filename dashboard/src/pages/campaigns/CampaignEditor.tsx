import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { contentBody, contentOf, emptyContent, type MailContent } from '../mail/content.ts';
import { MailForm } from '../mail/MailForm.tsx';
import { MailPreview } from '../mail/MailPreview.tsx';
import { useUnsaved } from '../mail/unsaved.ts';
import { type Audience, AudienceForm, audienceBody, audienceOf } from './AudienceForm.tsx';
import { type Campaign, states } from './campaign.ts';
import { SendDialog } from './SendDialog.tsx';
import { TestDialog } from './TestDialog.tsx';

/** Writing a campaign: message, audience, a test, and the moment it leaves. */
export function CampaignEditor({ campaign, above }: { campaign: Campaign | null; above: ReactNode }) {
  const project = useProjectId();
  const saved: MailContent & { audience: Audience } = {
    ...(campaign ? contentOf(campaign) : emptyContent),
    audience: audienceOf(campaign),
  };
  const [draft, setDraft] = useState(saved);
  const [dialog, setDialog] = useState<'send' | 'test' | 'delete' | 'cancel' | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const hasChanges = JSON.stringify(draft) !== JSON.stringify(saved);
  const refresh = () => queries.invalidateQueries({ queryKey: ['campaigns', project] });
  const save = useMutation({
    mutationFn: () => {
      const { audience, ...content } = draft;
      const body = { ...contentBody(content), ...audienceBody(audience) };
      return campaign === null
        ? answer(api.POST('/campaigns', { body }))
        : answer(api.PUT('/campaigns/{id}', { params: { path: { id: campaign.id } }, body }));
    },
    onSuccess: async ({ data }) => {
      toast('Campaign saved');
      await refresh();
      if (campaign === null)
        await navigate({
          to: '/app/$project/campaigns/$campaign',
          params: { project, campaign: data.id },
          ignoreBlocker: true,
        });
    },
  });
  useUnsaved(hasChanges && !save.isPending);
  const close = () => setDialog(null);
  const isReady = campaign !== null && !hasChanges;
  return (
    <Page
      title={draft.name || 'New campaign'}
      above={above}
      about={
        campaign ? (
          <>
            <Badge tone={states[campaign.status].tone}>{states[campaign.status].name}</Badge>
            {campaign.status === 'SCHEDULED' ? (
              <>
                {' '}
                Leaves <Timestamp at={campaign.scheduledFor} />
              </>
            ) : null}
          </>
        ) : undefined
      }
      actions={
        <>
          {campaign?.status === 'SCHEDULED' ? <Button onClick={() => setDialog('cancel')}>Back to draft</Button> : null}
          {campaign?.status === 'DRAFT' ? (
            <Button look="danger" onClick={() => setDialog('delete')}>
              Delete
            </Button>
          ) : null}
          <Button disabled={!isReady} onClick={() => setDialog('test')}>
            Send a test
          </Button>
          <Button busy={save.isPending} disabled={!hasChanges} onClick={() => save.mutate()}>
            Save
          </Button>
          <Button look="primary" disabled={!isReady} onClick={() => setDialog('send')}>
            Send …
          </Button>
        </>
      }
    >
      <div className="stack">
        {save.error ? <Problem error={save.error} /> : null}
        {hasChanges && campaign !== null ? (
          <Note>There are changes: save them to send or test the campaign.</Note>
        ) : null}
        <Card title="Audience">
          <AudienceForm
            audience={draft.audience}
            type={draft.type}
            size={hasChanges ? null : (campaign?.totalRecipients ?? null)}
            refused={save.error}
            onChange={(audience) => setDraft((before) => ({ ...before, audience }))}
          />
        </Card>
        <div className="writing">
          <MailForm
            content={draft}
            refused={save.error instanceof ApiError ? save.error : null}
            onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
          />
          <MailPreview content={draft} />
        </div>
      </div>
      {campaign && dialog === 'send' ? <SendDialog campaign={campaign} onClose={close} onSent={refresh} /> : null}
      {campaign && dialog === 'test' ? <TestDialog campaign={campaign} onClose={close} /> : null}
      {campaign && dialog === 'cancel' ? (
        <ConfirmDialog
          title={`Take ${campaign.name} off the schedule`}
          action="Back to draft"
          wayOut="Leave it on the schedule"
          onConfirm={async () => {
            await answer(api.POST('/campaigns/{id}/cancel', { params: { path: { id: campaign.id } } }));
            await refresh();
          }}
          onClose={close}
        >
          Nothing is sent; {campaign.name} is a draft again.
        </ConfirmDialog>
      ) : null}
      {campaign && dialog === 'delete' ? (
        <ConfirmDialog
          title={`Delete ${campaign.name}`}
          action="Delete the draft"
          onConfirm={async () => {
            await answer(api.DELETE('/campaigns/{id}', { params: { path: { id: campaign.id } } }));
            toast(`“${campaign.name}” deleted`);
            await navigate({ to: '/app/$project/campaigns', params: { project }, ignoreBlocker: true });
            await refresh();
          }}
          onClose={close}
        >
          The draft {campaign.name} is deleted with its content.
        </ConfirmDialog>
      ) : null}
    </Page>
  );
}
