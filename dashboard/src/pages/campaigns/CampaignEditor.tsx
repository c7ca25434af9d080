import { type ReactNode, useState } from 'react';
import { ApiError } from '../../api/errors.ts';
import { useFilters } from '../../app/address.ts';
import { ConflictDialog } from '../../app/ConflictDialog.tsx';
import { useUnsaved } from '../../app/unsaved.tsx';
import { useConditionSentence } from '../../conditions/vocabulary.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { contentNames, contentText } from '../mail/content.ts';
import { MailForm } from '../mail/MailForm.tsx';
import { MailPreview } from '../mail/MailPreview.tsx';
import { TestDialog } from '../mail/TestDialog.tsx';
import { AudienceForm } from './AudienceForm.tsx';
import { audienceText } from './audience.ts';
import { type Campaign, states } from './campaign.ts';
import { AudienceCount } from './composer/AudienceCount.tsx';
import { type ComposerDialog, ComposerDialogs } from './composer/ComposerDialogs.tsx';
import { type CampaignDraft, useCampaignDraft } from './composer/draft.ts';
import { EarlierAudience, isToEarlier } from './composer/EarlierAudience.tsx';
import { ReviewStep } from './composer/ReviewStep.tsx';
import { SendStep } from './composer/SendStep.tsx';
import { StepFoot, StepList } from './composer/StepList.tsx';
import { type Audience, type ComposerStep, missingAt, stepIn } from './rules/steps.ts';

/** Writes a campaign in steps, each with an address: the message, the audience, a review, and when it leaves. */
export function CampaignEditor({
  campaign,
  above,
  onCreated,
}: {
  campaign: Campaign | null;
  above: ReactNode;
  /** Called with the ID of a new campaign before the address changes to it. */
  onCreated: (id: string) => void;
}) {
  const [filters] = useFilters();
  const step = stepIn(filters.step);
  const [dialog, setDialog] = useState<ComposerDialog | 'test' | null>(null);
  const draft = useCampaignDraft(campaign, onCreated);
  const { content, hasChanges, isSaving, error, conflict } = draft;
  const missing = missingAt(content);
  const sentence = useConditionSentence();
  const unsaved = useUnsaved(hasChanges && !isSaving);
  // A complete step is saved when it is left; an incomplete one would only be refused.
  const saveAsYouGo = () => {
    if (hasChanges && !isSaving && missing.content.length + missing.audience.length === 0) draft.save();
  };
  return (
    <Page
      title={content.name || 'New campaign'}
      above={above}
      about={campaign ? <About campaign={campaign} /> : undefined}
      actions={<Actions campaign={campaign} draft={draft} onOpen={setDialog} />}
    >
      <div className="stack">
        <StepList step={step} missing={missing} onLeave={saveAsYouGo} />
        {error ? <Problem error={error} /> : null}
        {hasChanges && campaign !== null ? <Note>Save your changes to send the campaign.</Note> : null}
        <Step step={step} campaign={campaign} draft={draft} onSend={setDialog} />
        <StepFoot step={step} onLeave={saveAsYouGo} />
      </div>
      {conflict ? (
        <ConflictDialog
          what="campaign"
          conflict={conflict}
          names={{ ...contentNames, audience: 'Audience' }}
          describe={(value, key) =>
            key === 'audience' ? audienceText(value as Audience, sentence) : contentText(value)
          }
          onMine={draft.keepMine}
          onTheirs={draft.takeTheirs}
          onClose={draft.decideLater}
        />
      ) : null}
      {dialog === 'test' ? (
        <TestDialog
          kind="campaigns"
          name={content.name}
          id={campaign?.id ?? null}
          save={campaign === null || hasChanges ? async () => (await draft.saveNow())?.id ?? null : null}
          onClose={() => setDialog(null)}
        />
      ) : campaign ? (
        <ComposerDialogs open={dialog} campaign={campaign} hasChanges={hasChanges} onClose={() => setDialog(null)} />
      ) : null}
      {unsaved}
    </Page>
  );
}

function About({ campaign }: { campaign: Campaign }) {
  const { name, tone } = states[campaign.status];
  return (
    <>
      <Badge tone={tone}>{name}</Badge>
      {campaign.status === 'SCHEDULED' ? (
        <>
          {' '}
          Sends <Timestamp at={campaign.scheduledFor} />
        </>
      ) : null}
    </>
  );
}

function Actions({
  campaign,
  draft: { hasChanges, isSaving, save },
  onOpen,
}: {
  campaign: Campaign | null;
  draft: CampaignDraft;
  onOpen: (dialog: ComposerDialog | 'test') => void;
}) {
  return (
    <>
      {campaign?.status === 'SCHEDULED' ? <Button onClick={() => onOpen('cancel')}>Back to draft</Button> : null}
      {campaign?.status === 'DRAFT' ? (
        <Button variant="danger" onClick={() => onOpen('delete')}>
          Delete
        </Button>
      ) : null}
      {campaign ? <Button onClick={() => onOpen('history')}>Version history</Button> : null}
      <Button onClick={() => onOpen('test')}>Send test email</Button>
      <Button busy={isSaving} disabled={!hasChanges} onClick={save}>
        Save
      </Button>
    </>
  );
}

function Step({
  step,
  campaign,
  draft,
  onSend,
}: {
  step: ComposerStep;
  campaign: Campaign | null;
  draft: CampaignDraft;
  onSend: (when: 'send' | 'schedule') => void;
}) {
  const { content, generation, error, change } = draft;
  switch (step) {
    case 'content':
      return (
        <div className="writing">
          <MailForm
            content={content}
            generation={generation}
            refused={error instanceof ApiError ? error : null}
            onChange={change}
          />
          <MailPreview content={content} />
        </div>
      );
    case 'audience':
      return (
        <Card title="Audience">
          <div className="stack">
            {isToEarlier(campaign) ? (
              <p>
                <EarlierAudience campaign={campaign} />. This audience can’t be changed.
              </p>
            ) : (
              <AudienceForm
                key={generation}
                audience={content.audience}
                type={content.type}
                refused={error}
                onChange={(audience) => change({ audience })}
              />
            )}
            <AudienceCount draft={content} campaign={campaign} />
          </div>
        </Card>
      );
    case 'review':
      return <ReviewStep draft={content} campaign={campaign} hasChanges={draft.hasChanges} />;
    case 'send': {
      const isReady = campaign !== null && !draft.hasChanges;
      return <SendStep draft={content} campaign={campaign} isReady={isReady} onSend={onSend} />;
    }
  }
}
