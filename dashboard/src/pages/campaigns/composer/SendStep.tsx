import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { operations } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { useConditionSentence } from '../../../conditions/vocabulary.tsx';
import { Button } from '../../../ui/Button.tsx';
import { SelectField } from '../../../ui/Field.tsx';
import { Form } from '../../../ui/Form.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Note, Problem } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { count, counted } from '../../../words/numbers.ts';
import { subjectText } from '../../../words/subjects.ts';
import { dayText, momentText, ownZone } from '../../../words/times.ts';
import { useOwnProject } from '../../settings/project.ts';
import { audienceText } from '../audience.ts';
import type { Campaign } from '../campaign.ts';
import { CanaryFields, canaryOf, newCanary } from '../canary/CanaryFields.tsx';
import { ApprovalCard } from '../review/ApprovalCard.tsx';
import { Checks } from '../review/Checks.tsx';
import { type DryRun, isValid, useDryRun, useFirstCheck } from '../review/dry-run.ts';
import { missingAt } from '../rules/steps.ts';
import { AudienceCount, useAudienceCount } from './AudienceCount.tsx';
import type { CampaignContent } from './draft.ts';
import { EarlierAudience, isToEarlier } from './EarlierAudience.tsx';
import { MissingNotes } from './StepList.tsx';
import { instantIn, WhenFields, whenOf } from './WhenFields.tsx';

const drifts = {
  none: 'Send only to the contacts that were checked',
  any: 'Send to everyone in the audience then',
  fewer: 'Don’t send if anyone has joined',
  '0.02': 'Don’t send if more than 2% have joined or left',
} as const;
type Drift = keyof typeof drifts;

/** The drift as the API takes it: any is a change of all of the audience. */
const driftOf = (drift: Drift) => (drift === 'any' ? 1 : drift === '0.02' ? 0.02 : drift);

/** The last step: to whom, when and how the campaign is sent, what a check of every message found, and the button that sends what was checked. */
export function SendStep({
  draft,
  campaign,
  hasChanges,
}: {
  draft: CampaignContent;
  campaign: Campaign | null;
  hasChanges: boolean;
}) {
  const missing = missingAt(draft);
  const isWhole = Object.values(missing).every((each) => each.length === 0);
  const isReady = isWhole && campaign !== null && !hasChanges;
  const recipients = useAudienceCount(draft, campaign).data?.recipients;
  const checking = useDryRun(campaign?.id ?? '');
  const disabled = !isReady || campaign.approval !== null;
  useFirstCheck(checking, { recipients, revision: campaign?.revision ?? null, disabled });
  const run = checking.latest.data ?? null;
  return (
    <div className="composer-step">
      <div className="send-step">
        <div className="stack">
          {isWhole ? null : (
            <Note tone="warn">
              <p>Complete these before you send:</p>
              <MissingNotes missing={missing} />
            </Note>
          )}
          {isWhole && !isReady ? <Note>Save your changes to check and send the campaign.</Note> : null}
          {campaign ? <ApprovalCard campaign={campaign} /> : null}
          <Recipients draft={draft} campaign={campaign} run={run} />
          <Delivery
            // The time is that of the campaign again once it is scheduled or back in draft.
            key={campaign?.scheduledFor}
            campaign={campaign}
            recipients={recipients ?? campaign?.totalRecipients ?? 0}
            run={run}
            disabled={disabled}
          />
        </div>
        {isReady ? <Checks checking={checking} recipients={recipients ?? 0} disabled={disabled} /> : null}
      </div>
    </div>
  );
}

/** Who gets the campaign, how many that are now, and who is left out and why. */
function Recipients({
  draft,
  campaign,
  run,
}: {
  draft: CampaignContent;
  campaign: Campaign | null;
  run: DryRun | null;
}) {
  const { audience } = draft;
  const sentence = useConditionSentence(audience.audienceCondition);
  const leftOut = run?.state === 'DONE' ? run.leftOut : [];
  return (
    <Card title="Recipients">
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
          <dd className="break">{draft.fromName ? `${draft.fromName} <${draft.from}>` : draft.from}</dd>
          <dt>Subject</dt>
          <dd className="break" dir="auto">
            {subjectText(draft.subject)}
          </dd>
        </dl>
        <AudienceCount draft={draft} campaign={campaign} />
        {leftOut.length > 0 ? (
          <Table
            label="Skipped contacts"
            rows={leftOut}
            rowKey={({ reason }) => reason}
            columns={[
              { key: 'reason', title: 'Skipped because', cell: ({ reason }) => reason },
              { key: 'count', title: 'Contacts', number: true, cell: ({ count: many }) => count(many) },
            ]}
          />
        ) : null}
      </div>
    </Card>
  );
}

/** When the campaign is sent and to which part of it first, with the button that sends it. */
function Delivery({
  campaign,
  recipients,
  run,
  disabled,
}: {
  campaign: Campaign | null;
  recipients: number;
  run: DryRun | null;
  disabled: boolean;
}) {
  const ofProject = useOwnProject()?.timeZone ?? null;
  const [when, setWhen] = useState(() => whenOf(campaign?.scheduledFor ?? null, ofProject ?? ownZone()));
  const [canary, setCanary] = useState(newCanary);
  const [chosen, setDrift] = useState<Drift | null>(null);
  // What is sent at once goes to those who were checked; who joins until a later time is expected to get it.
  const drift = chosen ?? (when.isLater ? 'any' : 'none');
  const at = instantIn(when);
  const valid = isValid(run) ? run : null;
  // No send can be bound to a check that has expired by then.
  const isBound = valid !== null && (at ?? 0) < Date.parse(valid.expiresAt);
  const send = useSend(campaign?.id ?? '', ({ fingerprint }) => ({
    ...(at === null ? {} : { scheduledFor: new Date(at).toISOString() }),
    ...(canary.isOn ? { canary: canaryOf(canary, recipients) } : {}),
    ...(isBound ? { fingerprint, drift: driftOf(drift) } : { fingerprint: null }),
  }));
  const audience = counted(valid ? valid.wouldSend : recipients, 'contact');
  return (
    <Card title="Delivery">
      <Form onSubmit={() => valid && send.mutate(valid)}>
        {campaign?.status === 'SCHEDULED' ? (
          <p>
            Scheduled: sends <Timestamp at={campaign.scheduledFor} />.
          </p>
        ) : null}
        <WhenFields when={when} ofProject={ofProject} onChange={setWhen} />
        {campaign?.canary ? (
          <p className="muted">This campaign goes to a few contacts first, as it was set.</p>
        ) : (
          <CanaryFields form={canary} audience={recipients} onChange={setCanary} />
        )}
        {isBound || valid === null ? (
          <DriftField value={drift} onChange={setDrift} />
        ) : (
          <Note>
            This check is kept until {dayText(Date.parse(valid.expiresAt))}. Later, the campaign is sent as it is then,
            to everyone in the audience.
          </Note>
        )}
        {send.error ? <Problem error={send.error} /> : null}
        <div>
          <Button
            type="submit"
            variant="primary"
            busy={send.isPending}
            disabled={disabled || valid === null || valid.wouldSend === 0}
          >
            {when.isLater ? `Schedule for ${audience}` : `Send to ${audience}`}
          </Button>
        </div>
      </Form>
    </Card>
  );
}

type Send = NonNullable<operations['sendCampaign']['requestBody']>['content']['application/json'];

/** Sends a campaign by a check of it, with what `bodyOf` makes of the check. */
function useSend(id: string, bodyOf: (check: { fingerprint: string }) => Send) {
  const project = useProjectId();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (check: { fingerprint: string }) =>
      answer(api.POST('/campaigns/{id}/send', { params: { path: { id } }, body: bodyOf(check) })),
    onSuccess: ({ data: { status, scheduledFor }, message }) =>
      toast(
        status === 'SCHEDULED' && scheduledFor
          ? `Scheduled: ${momentText(Date.parse(scheduledFor), Date.now())}`
          : message,
      ),
    // Not waited for: what refuses a send is shown at once.
    onSettled: () => void queries.invalidateQueries({ queryKey: ['campaigns', project] }),
  });
}

function DriftField({ value, onChange }: { value: Drift; onChange: (drift: Drift) => void }) {
  return (
    <SelectField
      label="If the audience has changed"
      {...(value === 'any' ? { hint: 'Not sent if more contacts have joined or left than were checked.' } : {})}
      value={value}
      onChange={(event) => onChange(event.target.value as Drift)}
    >
      {Object.entries(drifts).map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </SelectField>
  );
}
