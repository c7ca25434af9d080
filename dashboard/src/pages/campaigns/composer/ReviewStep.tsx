import { useConditionSentence } from '../../../conditions/vocabulary.tsx';
import { Card } from '../../../ui/Page.tsx';
import { subjectText } from '../../../words/subjects.ts';
import { RenderedMail } from '../../mail/MailPreview.tsx';
import { audienceText } from '../audience.ts';
import type { Campaign } from '../campaign.ts';
import { ApprovalCard } from '../review/ApprovalCard.tsx';
import { CampaignReview } from '../review/CampaignReview.tsx';
import { AudienceCount, useAudienceCount } from './AudienceCount.tsx';
import type { CampaignContent } from './draft.ts';
import { EarlierAudience, isToEarlier } from './EarlierAudience.tsx';

/** The campaign as it is going to be sent: to how many, from whom, and what they see. */
export function ReviewStep({
  draft,
  campaign,
  hasChanges,
}: {
  draft: CampaignContent;
  campaign: Campaign | null;
  hasChanges: boolean;
}) {
  const { audience } = draft;
  const sentence = useConditionSentence();
  const recipients = useAudienceCount(draft, campaign).data?.recipients ?? 0;
  return (
    <div className="stack">
      {campaign ? <ApprovalCard campaign={campaign} /> : null}
      <Card title="Summary">
        <div className="stack">
          <dl className="facts">
            <dt>Audience</dt>
            <dd className="break" dir="auto">
              {isToEarlier(campaign) ? (
                <EarlierAudience campaign={campaign} />
              ) : audience.audienceType === 'SEGMENT' && campaign?.segment ? (
                `Segment ${campaign.segment.name}`
              ) : (
                audienceText(audience, sentence)
              )}
            </dd>
            <dt>From</dt>
            <dd>{draft.fromName ? `${draft.fromName} <${draft.from}>` : draft.from}</dd>
            <dt>Subject</dt>
            <dd dir="auto">{subjectText(draft.subject)}</dd>
          </dl>
          <AudienceCount draft={draft} campaign={campaign} />
        </div>
      </Card>
      <Card title="Email">
        <RenderedMail content={draft} />
      </Card>
      {campaign ? <CampaignReview campaign={campaign} recipients={recipients} hasChanges={hasChanges} /> : null}
    </div>
  );
}
