import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { CheckField, SelectField } from '../../../ui/Field.tsx';
import { Note } from '../../../ui/States.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import type { Campaign } from '../campaign.ts';
import type { Stats } from '../run/Progress.tsx';
import { ContentFields, useWriting, writtenBody } from './ContentFields.tsx';
import { EarlierCount } from './EarlierCount.tsx';

type Who = 'got' | 'opened' | 'clicked';

const reaches: Record<Who, string> = {
  got: 'All recipients',
  opened: 'Recipients who opened it',
  clicked: 'Recipients who clicked a link',
};

/** Writes a campaign to exactly those who got certain versions of this one, as a draft. */
export function CorrectionDialog({
  campaign,
  stats,
  onOpen,
  onClose,
}: {
  campaign: Campaign;
  stats: Stats;
  /** Opens another campaign. */
  onOpen: (id: string) => Promise<void>;
  onClose: () => void;
}) {
  const [versions, setVersions] = useState<readonly number[]>([1]);
  const [who, setWho] = useState<Who>('got');
  const writing = useWriting(campaign);
  const path = { id: campaign.id };
  const create = useMutation({
    mutationFn: () => {
      const { subject, document, body } = writing.content;
      return answer(
        api.POST('/campaigns/{id}/correction', {
          params: { path },
          body: { versions: [...versions], who, subject, ...writtenBody({ document, body }) },
        }),
      );
    },
    onSuccess: async ({ data }) => {
      toast('Correction created. Review it, then send it.');
      await onOpen(data.id);
    },
  });
  const found = useCount(campaign.id, versions, who);
  return (
    <Dialog
      wide
      title="Correct this campaign?"
      description="Creates a draft for exactly these recipients. Nothing is sent until you send the draft."
      onClose={onClose}
    >
      {stats.versions.length > 1 ? (
        <fieldset className="field">
          <legend>Recipients of</legend>
          {stats.versions.map(({ version, sentCount }) => (
            <CheckField
              key={version}
              label={`Version ${version}`}
              hint={`${counted(sentCount, 'recipient')}`}
              checked={versions.includes(version)}
              onChange={(event) =>
                setVersions(event.target.checked ? [...versions, version] : versions.filter((each) => each !== version))
              }
            />
          ))}
        </fieldset>
      ) : null}
      <SelectField label="Send to" value={who} onChange={(event) => setWho(event.target.value as Who)}>
        {Object.entries(reaches).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
      {versions.length === 0 ? <Note>Choose at least one version.</Note> : <EarlierCount found={found} />}
      <ContentFields writing={writing} error={create.error} />
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          busy={create.isPending}
          disabled={!found.data?.recipients || versions.length === 0 || writing.changed.length === 0}
          onClick={() => create.mutate()}
        >
          Create draft
        </Button>
      </footer>
    </Dialog>
  );
}

function useCount(id: string, versions: readonly number[], who: Who) {
  const project = useProjectId();
  return useQuery({
    queryKey: ['campaigns', project, id, 'correction', versions, who],
    enabled: versions.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
    retry: false,
    queryFn: async ({ signal }) => {
      const body = { versions: [...versions], who };
      const asked = api.POST('/campaigns/{id}/correction/audience', { params: { path: { id } }, body, signal });
      return (await answer(asked)).data;
    },
  });
}
