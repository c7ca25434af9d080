import { Button } from '../../../ui/Button.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Note } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import type { Campaign } from '../campaign.ts';
import { missingAt } from '../rules/steps.ts';
import { AudienceCount } from './AudienceCount.tsx';
import type { CampaignContent } from './draft.ts';
import { MissingNotes } from './StepList.tsx';

/** The last step: what keeps the campaign from being sent, or when it leaves. */
export function SendStep({
  draft,
  campaign,
  isReady,
  onSend,
}: {
  draft: CampaignContent;
  campaign: Campaign | null;
  /** Whether everything is saved. */
  isReady: boolean;
  onSend: (when: 'send' | 'schedule') => void;
}) {
  const missing = missingAt(draft);
  const isWhole = Object.values(missing).every((each) => each.length === 0);
  const isScheduled = campaign?.status === 'SCHEDULED';
  return (
    <Card title="Send">
      <div className="stack">
        {isWhole ? null : (
          <Note tone="warn">
            <p>Complete these before you send:</p>
            <MissingNotes missing={missing} />
          </Note>
        )}
        {isWhole && !isReady ? <Note>Save your changes to send the campaign.</Note> : null}
        {isScheduled ? (
          <p>
            Scheduled: sends <Timestamp at={campaign.scheduledFor} />.
          </p>
        ) : null}
        {campaign?.approval ? <Note>This campaign waits for the approval of an admin: see Review.</Note> : null}
        <AudienceCount draft={draft} campaign={campaign} />
        <div className="row">
          <Button variant="primary" disabled={!isReady || !isWhole} onClick={() => onSend('send')}>
            Send campaign
          </Button>
          <Button disabled={!isReady || !isWhole} onClick={() => onSend('schedule')}>
            {isScheduled ? 'Reschedule' : 'Schedule for later'}
          </Button>
        </div>
      </div>
    </Card>
  );
}
