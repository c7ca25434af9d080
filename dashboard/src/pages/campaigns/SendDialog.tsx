import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { counted } from '../../words/numbers.ts';
import { subjectText } from '../../words/subjects.ts';
import { localText, zone } from '../../words/times.ts';
import type { Campaign } from './campaign.ts';
import { CanaryFields, canaryOf, usualCanary } from './canary/CanaryFields.tsx';
import { EarlierAudience, isToEarlier, useRecipients } from './composer/EarlierAudience.tsx';

/** Confirms a send: to how many recipients, and when. */
export function SendDialog({
  campaign,
  isLater: isLaterFirst,
  onClose,
  onSent,
}: {
  campaign: Campaign;
  /** Whether it is to be scheduled; can be changed here. */
  isLater: boolean;
  onClose: () => void;
  onSent: () => Promise<void>;
}) {
  const [isLater, setLater] = useState(isLaterFirst || campaign.scheduledFor !== null);
  const recipients = useRecipients(campaign);
  const audience = counted(recipients, 'contact');
  const [at, setAt] = useState(localText(campaign.scheduledFor));
  const [canary, setCanary] = useState(() => usualCanary(campaign.totalRecipients));
  const send = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/campaigns/{id}/send', {
          params: { path: { id: campaign.id } },
          body: {
            ...(isLater ? { scheduledFor: new Date(at).toISOString() } : {}),
            ...(canary.isOn ? { canary: canaryOf(canary) } : {}),
          },
        }),
      ),
    onSuccess: async ({ message }) => {
      toast(message);
      await onSent();
      onClose();
    },
  });
  return (
    <Dialog title={isLater ? `Schedule for ${audience}?` : `Send to ${audience}?`} onClose={onClose}>
      <Form onSubmit={() => send.mutate()}>
        <WhatLeaves campaign={campaign} />
        <fieldset className="field">
          <legend>When</legend>
          <label className="row">
            <input type="radio" name="when" checked={!isLater} onChange={() => setLater(false)} /> Now
          </label>
          <label className="row">
            <input type="radio" name="when" checked={isLater} onChange={() => setLater(true)} /> Schedule for later
          </label>
        </fieldset>
        {isLater ? (
          <TextField
            label={`Time (${zone})`}
            type="datetime-local"
            required
            value={at}
            onChange={(event) => setAt(event.target.value)}
          />
        ) : null}
        {campaign.canary ? (
          <p className="muted">This campaign goes to a few contacts first, as it was set.</p>
        ) : (
          <CanaryFields form={canary} audience={recipients} onChange={setCanary} />
        )}
        {send.error ? <Problem error={send.error} /> : null}
        <footer>
          <Button onClick={onClose}>Back to editing</Button>
          <Button type="submit" variant="primary" busy={send.isPending}>
            {isLater ? 'Schedule campaign' : 'Send now'}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

/** Summarizes the content and the audience of the send. */
function WhatLeaves({ campaign }: { campaign: Campaign }) {
  return (
    <p>
      <bdi>{campaign.name}</bdi>
      {isToEarlier(campaign) ? (
        <>
          , to <EarlierAudience campaign={campaign} />
        </>
      ) : campaign.segment ? (
        `, to the segment ${campaign.segment.name}`
      ) : null}
      . Subject: <strong dir="auto">{subjectText(campaign.subject)}</strong>
    </p>
  );
}
