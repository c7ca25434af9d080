import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { ConflictDialog } from '../../app/ConflictDialog.tsx';
import { useDraft } from '../../app/draft.ts';
import { useUnsaved } from '../../app/unsaved.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { contentBody, contentNames, contentOf, contentText, emptyContent, type MailContent } from '../mail/content.ts';
import { HistoryDialog } from '../mail/HistoryDialog.tsx';
import { MailForm } from '../mail/MailForm.tsx';
import { MailPreview } from '../mail/MailPreview.tsx';
import { TestDialog } from '../mail/TestDialog.tsx';
import { type Audience, AudienceForm, audienceBody, audienceOf, audienceText } from './AudienceForm.tsx';
import { type Campaign, type SavedCampaign, states } from './campaign.ts';
import { SendDialog } from './SendDialog.tsx';

type Content = MailContent & { audience: Audience };

function storedOf(campaign: SavedCampaign | null): { content: Content; revision: number | null } {
  const content = campaign ? contentOf(campaign) : emptyContent;
  return { content: { ...content, audience: audienceOf(campaign) }, revision: campaign?.revision ?? null };
}

/** Writing a campaign: message, audience, a test, and the moment it leaves. */
export function CampaignEditor({ campaign, above }: { campaign: Campaign | null; above: ReactNode }) {
  const project = useProjectId();
  const [dialog, setDialog] = useState<'send' | 'test' | 'history' | 'delete' | 'cancel' | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const refresh = () => queries.invalidateQueries({ queryKey: ['campaigns', project] });
  const path = { id: campaign?.id ?? '' };
  const {
    content: draft,
    hasChanges,
    ...saving
  } = useDraft({
    stored: storedOf(campaign),
    read: async () => storedOf((await answer(api.GET('/campaigns/{id}', { params: { path } }))).data),
    write: async ({ audience, ...content }, header) => {
      const body = { ...contentBody(content), ...audienceBody(audience) };
      const { data } =
        campaign === null
          ? await answer(api.POST('/campaigns', { body }))
          : await answer(api.PUT('/campaigns/{id}', { params: { path, header }, body }));
      return { ...storedOf(data), id: data.id };
    },
    onSaved: async ({ id }) => {
      toast('Campaign saved');
      await refresh();
      if (campaign === null)
        await navigate({
          to: '/app/$project/campaigns/$campaign',
          params: { project, campaign: id },
          ignoreBlocker: true,
        });
    },
  });
  const unsaved = useUnsaved(hasChanges && !saving.isSaving);
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
                Sends <Timestamp at={campaign.scheduledFor} />
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
          {campaign ? <Button onClick={() => setDialog('history')}>Version history</Button> : null}
          <Button disabled={!isReady} onClick={() => setDialog('test')}>
            Send test email
          </Button>
          <Button busy={saving.isSaving} disabled={!hasChanges} onClick={saving.save}>
            Save
          </Button>
          <Button look="primary" disabled={!isReady} onClick={() => setDialog('send')}>
            Send campaign
          </Button>
        </>
      }
    >
      <div className="stack">
        {saving.error ? <Problem error={saving.error} /> : null}
        {hasChanges && campaign !== null ? <Note>Save your changes to send or test the campaign.</Note> : null}
        <Card title="Audience">
          <AudienceForm
            key={saving.generation}
            audience={draft.audience}
            type={draft.type}
            size={hasChanges ? null : (campaign?.totalRecipients ?? null)}
            refused={saving.error}
            onChange={(audience) => saving.change({ audience })}
          />
        </Card>
        <div className="writing">
          <MailForm
            content={draft}
            generation={saving.generation}
            refused={saving.error instanceof ApiError ? saving.error : null}
            onChange={saving.change}
          />
          <MailPreview content={draft} />
        </div>
      </div>
      {saving.conflict ? (
        <ConflictDialog
          what="campaign"
          conflict={saving.conflict}
          names={{ ...contentNames, audience: 'Audience' }}
          describe={(value, key) => (key === 'audience' ? audienceText(value as Audience) : contentText(value))}
          onMine={saving.keepMine}
          onTheirs={saving.takeTheirs}
          onClose={saving.decideLater}
        />
      ) : null}
      {campaign && dialog === 'send' ? <SendDialog campaign={campaign} onClose={close} onSent={refresh} /> : null}
      {campaign && dialog === 'test' ? (
        <TestDialog kind="campaigns" id={campaign.id} name={campaign.name} onClose={close} />
      ) : null}
      {campaign && dialog === 'history' ? (
        <HistoryDialog
          saved={{ kind: 'campaigns', id: campaign.id, content: contentOf(campaign), revision: campaign.revision }}
          hasChanges={hasChanges}
          onClose={close}
        />
      ) : null}
      {campaign && dialog === 'cancel' ? (
        <ConfirmDialog
          title={`Unschedule ${campaign.name}?`}
          action="Back to draft"
          wayOut="Keep it scheduled"
          onConfirm={async () => {
            await answer(api.POST('/campaigns/{id}/cancel', { params: { path: { id: campaign.id } } }));
            await refresh();
          }}
          onClose={close}
        >
          Nothing is sent. {campaign.name} becomes a draft again.
        </ConfirmDialog>
      ) : null}
      {campaign && dialog === 'delete' ? (
        <ConfirmDialog
          title={`Delete ${campaign.name}?`}
          action="Delete draft"
          onConfirm={async () => {
            await answer(api.DELETE('/campaigns/{id}', { params: { path: { id: campaign.id } } }));
            toast(`“${campaign.name}” deleted`);
            await navigate({ to: '/app/$project/campaigns', params: { project }, ignoreBlocker: true });
            await refresh();
          }}
          onClose={close}
        >
          The draft and its content are deleted permanently.
        </ConfirmDialog>
      ) : null}
      {unsaved}
    </Page>
  );
}
