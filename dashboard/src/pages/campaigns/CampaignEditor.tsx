import { CalendarX, History, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { ApiError } from '../../api/errors.ts';
import { useFilters } from '../../app/address.ts';
import { ConflictDialog } from '../../app/ConflictDialog.tsx';
import { useUnsaved } from '../../app/unsaved.tsx';
import { useConditionSentence } from '../../conditions/vocabulary.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { MenuItem } from '../../ui/Menu.tsx';
import { Card } from '../../ui/Page.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { Composer, MoreMenu, PreviewButton, usePreview } from '../mail/Composer.tsx';
import { contentNames, contentText } from '../mail/content.ts';
import { MailForm } from '../mail/MailForm.tsx';
import { TestDialog } from '../mail/TestDialog.tsx';
import { AudienceForm } from './AudienceForm.tsx';
import { audienceText } from './audience.ts';
import { type Campaign, states } from './campaign.ts';
import { AudienceCount } from './composer/AudienceCount.tsx';
import { type ComposerDialog, ComposerDialogs } from './composer/ComposerDialogs.tsx';
import { type CampaignDraft, useCampaignDraft } from './composer/draft.ts';
import { EarlierAudience, isToEarlier } from './composer/EarlierAudience.tsx';
import { SendStep } from './composer/SendStep.tsx';
import { NextStep, StepList } from './composer/StepList.tsx';
import { type Audience, type ComposerStep, missingAt, stepIn } from './rules/steps.ts';

/** Writes a campaign in steps, each with an address: the message, the audience, and how it is sent. */
export function CampaignEditor({
  campaign,
  senderDomains,
  above,
  onCreated,
}: {
  campaign: Campaign | null;
  /** The domains that a new campaign may be sent from. */
  senderDomains: readonly string[] | undefined;
  above: ReactNode;
  /** Called with the ID of a new campaign before the address changes to it. */
  onCreated: (id: string) => void;
}) {
  const [filters] = useFilters();
  const step = stepIn(filters.step);
  const [dialog, setDialog] = useState<ComposerDialog | 'test' | null>(null);
  const draft = useCampaignDraft(campaign, senderDomains, onCreated);
  const { content, hasChanges, isSaving, error, conflict } = draft;
  const missing = missingAt(content);
  const sentence = useConditionSentence(content.audience.audienceCondition);
  const unsaved = useUnsaved(hasChanges && !isSaving);
  const [isPreviewed, togglePreview] = usePreview();
  // A complete step is saved when it is left; an incomplete one would only be refused.
  const saveAsYouGo = () => {
    if (hasChanges && !isSaving && missing.content.length + missing.audience.length === 0) draft.save();
  };
  return (
    <Composer
      title="New campaign"
      name={content.name}
      onName={(name) => draft.change({ name })}
      above={above}
      about={campaign ? <About campaign={campaign} /> : undefined}
      error={error}
      save={hasChanges && !isSaving ? draft.save : null}
      onPreview={step === 'content' ? togglePreview : null}
      actions={
        <>
          {step === 'content' ? <PreviewButton isOpen={isPreviewed} onClick={togglePreview} /> : null}
          <Actions campaign={campaign} draft={draft} onOpen={setDialog} />
          <NextStep step={step} onLeave={saveAsYouGo} />
        </>
      }
    >
      <StepList step={step} missing={missing} onLeave={saveAsYouGo} />
      <Step step={step} campaign={campaign} draft={draft} isPreviewed={isPreviewed} />
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
    </Composer>
  );
}

function About({ campaign }: { campaign: Campaign }) {
  const { name, tone } = states[campaign.status];
  return (
    <span className="row text-sm text-muted">
      <Badge tone={tone}>{name}</Badge>
      {campaign.status === 'SCHEDULED' ? (
        <span>
          Sends <Timestamp at={campaign.scheduledFor} />
        </span>
      ) : null}
    </span>
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
      <Button onClick={() => onOpen('test')}>Send test email</Button>
      {campaign ? (
        <MoreMenu>
          <MenuItem onSelect={() => onOpen('history')}>
            <History aria-hidden /> Version history
          </MenuItem>
          {campaign.status === 'SCHEDULED' ? (
            <MenuItem onSelect={() => onOpen('cancel')}>
              <CalendarX aria-hidden /> Back to draft
            </MenuItem>
          ) : (
            <MenuItem onSelect={() => onOpen('delete')}>
              <Trash2 aria-hidden /> Delete draft
            </MenuItem>
          )}
        </MoreMenu>
      ) : null}
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
  isPreviewed,
}: {
  step: ComposerStep;
  campaign: Campaign | null;
  draft: CampaignDraft;
  isPreviewed: boolean;
}) {
  const { content, generation, error, change } = draft;
  switch (step) {
    case 'content':
      return (
        <MailForm
          content={content}
          email={`campaigns/${campaign?.id ?? 'new'}`}
          generation={generation}
          refused={error instanceof ApiError ? error : null}
          onChange={change}
          isPreviewed={isPreviewed}
        />
      );
    case 'audience':
      return (
        <div className="composer-step">
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
        </div>
      );
    case 'send':
      return <SendStep draft={content} campaign={campaign} hasChanges={draft.hasChanges} />;
  }
}
