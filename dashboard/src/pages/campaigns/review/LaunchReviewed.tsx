import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { SelectField } from '../../../ui/Field.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import type { Campaign } from '../campaign.ts';
import type { DryRun } from './dry-run.ts';

const drifts = {
  none: 'Send only to the contacts that were checked',
  fewer: 'Don’t send if anyone has joined since',
  '0.02': 'Don’t send if more than 2% have joined or left',
} as const;

/** Sends exactly what was checked; where an admin has to approve it, asks for that. */
export function LaunchReviewed({ run, campaign, disabled }: { run: DryRun; campaign: Campaign; disabled: boolean }) {
  const [drift, setDrift] = useState<keyof typeof drifts>('none');
  const [isAsking, setAsking] = useState(false);
  const project = useProjectId();
  const queries = useQueryClient();
  const { fingerprint } = run;
  const send = useMutation({
    mutationFn: (checked: string) =>
      answer(
        api.POST('/campaigns/{id}/send', {
          params: { path: { id: campaign.id } },
          body: { fingerprint: checked, drift: drift === '0.02' ? 0.02 : drift },
        }),
      ),
    onSuccess: ({ message }) => toast(message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['campaigns', project] }),
  });
  return (
    <>
      <SelectField
        label="If the audience has changed"
        value={drift}
        onChange={(event) => setDrift(event.target.value as keyof typeof drifts)}
      >
        {Object.entries(drifts).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
      <div>
        <Button variant="primary" disabled={disabled || run.wouldSend === 0} onClick={() => setAsking(true)}>
          Send checked messages
        </Button>
      </div>
      {isAsking && fingerprint !== null ? (
        <ConfirmDialog
          title={`Send to ${counted(run.wouldSend, 'contact')}?`}
          action="Send now"
          onConfirm={() => send.mutateAsync(fingerprint)}
          onClose={() => setAsking(false)}
        >
          The email is sent exactly as it was checked. If it has been edited since, nothing is sent.
        </ConfirmDialog>
      ) : null}
    </>
  );
}
