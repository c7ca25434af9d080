import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { SelectField } from '../../../ui/Field.tsx';
import { Problem } from '../../../ui/States.tsx';
import { toast } from '../../../ui/toasts.tsx';
import type { Campaign } from '../campaign.ts';
import { EarlierCount } from './EarlierCount.tsx';

const reaches = {
  not_opened: 'Recipients who neither opened it nor clicked a link',
  not_clicked: 'Recipients who did not click a link',
  opened: 'Recipients who opened it',
  clicked: 'Recipients who clicked a link',
  got: 'All recipients',
} as const;
type Who = keyof typeof reaches;

/** Makes a draft with the content of a finished campaign for some of those who got it. */
export function FollowUpDialog({
  campaign: { id, name },
  onOpen,
  onClose,
}: {
  campaign: Campaign;
  /** Opens another campaign. */
  onOpen: (id: string) => Promise<void>;
  onClose: () => void;
}) {
  const project = useProjectId();
  const [who, setWho] = useState<Who>('not_opened');
  const params = { path: { id } };
  const found = useQuery({
    queryKey: ['campaigns', project, id, 'follow-up', who],
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
    retry: false,
    queryFn: async ({ signal }) =>
      (await answer(api.POST('/campaigns/{id}/follow-up/audience', { params, body: { who }, signal }))).data,
  });
  const create = useMutation({
    mutationFn: () => answer(api.POST('/campaigns/{id}/follow-up', { params, body: { who } })),
    onSuccess: async ({ data }) => {
      toast('Follow-up created. Edit it, then send it.');
      await onOpen(data.id);
    },
  });
  return (
    <Dialog
      title={`Follow up ${name}?`}
      description="Creates a draft with the same content. Nothing is sent until you send the draft."
      onClose={onClose}
    >
      <SelectField label="Send to" value={who} onChange={(event) => setWho(event.target.value as Who)}>
        {Object.entries(reaches).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
      <EarlierCount found={found} />
      {create.error ? <Problem error={create.error} /> : null}
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          busy={create.isPending}
          disabled={!found.data?.recipients}
          onClick={() => create.mutate()}
        >
          Create draft
        </Button>
      </footer>
    </Dialog>
  );
}
