import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import type { Tree } from '../../conditions/tree.ts';
import { useConditionSentence } from '../../conditions/vocabulary.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button, buttonClass } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Page } from '../../ui/Page.tsx';
import { ShownPage } from '../../ui/ShownPage.tsx';
import { Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { count, counted } from '../../words/numbers.ts';
import { ExportDialog } from '../contacts/list/ExportDialog.tsx';
import { type ContactFilter, usualColumns } from '../contacts/list/list.ts';
import { MembersDialog } from './MembersDialog.tsx';
import { SegmentContacts } from './SegmentContacts.tsx';
import { type Segment, segmentTypeNames } from './segment.ts';

/** One segment: who belongs to it now, and what can be done with it. */
export function SegmentPage() {
  const project = useProjectId();
  const { segment: id = '' } = useParams({ strict: false });
  const segment = useQuery({
    queryKey: ['segments', project, id],
    queryFn: () => answer(api.GET('/segments/{id}', { params: { path: { id } } })),
  });
  const above = (
    <Link to="/app/$project/segments" params={{ project }}>
      Segments
    </Link>
  );
  return (
    <ShownPage query={segment} above={above}>
      {(each) => <OneSegment key={each.id} segment={each} above={above} />}
    </ShownPage>
  );
}

function OneSegment({ segment, above }: { segment: Segment; above: ReactNode }) {
  const { id, name, type, description, trackMembership, memberCount, condition } = segment;
  const sentence = useConditionSentence(condition as unknown as Tree | null);
  const project = useProjectId();
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<'add' | 'remove' | 'delete' | 'export' | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: ['segments', project] });
  const close = () => setDialog(null);
  const isTracked = type === 'DYNAMIC' && trackMembership;
  const bringUpToDate = useUpdate(id, isTracked, refresh);
  return (
    <Page
      title={name}
      above={above}
      about={
        <>
          {segmentTypeNames[type]} segment with {counted(memberCount, 'contact')} at the last count.{' '}
          {trackMembership ? <Badge tone="info">Entries and exits tracked</Badge> : null}
          {description ? (
            <span dir="auto" className="break">
              <br />
              {description}
            </span>
          ) : null}
        </>
      }
      actions={
        <>
          {type === 'STATIC' ? (
            <>
              <Button variant="primary" onClick={() => setDialog('add')}>
                Add contacts
              </Button>
              <Button onClick={() => setDialog('remove')}>Remove contacts</Button>
            </>
          ) : null}
          <Button disabled={memberCount === 0} onClick={() => setDialog('export')}>
            Export
          </Button>
          <Button busy={bringUpToDate.isPending} onClick={() => bringUpToDate.mutate()}>
            {isTracked ? 'Recompute' : 'Refresh count'}
          </Button>
          <Link className={buttonClass()} to="/app/$project/segments/$segment/edit" params={{ project, segment: id }}>
            Edit
          </Link>
          <Button variant="danger" onClick={() => setDialog('delete')}>
            Delete
          </Button>
        </>
      }
    >
      <div className="stack">
        {condition ? (
          <p data-slot="sentence" className="break" dir="auto">
            {sentence(condition as unknown as Tree)}
          </p>
        ) : null}
        {bringUpToDate.error ? <Problem error={bringUpToDate.error} /> : null}
        <SegmentContacts segment={segment} onAdd={() => setDialog('add')} />
      </div>
      {dialog === 'add' || dialog === 'remove' ? (
        <MembersDialog segment={segment} mode={dialog} onClose={close} onDone={refresh} />
      ) : null}
      {dialog === 'export' ? (
        <ExportDialog
          chosen={{ selector: { mode: 'query', filter: membersOf(id), excludeIds: [] }, count: memberCount }}
          columns={usualColumns}
          name={`segment-${id}`}
          onClose={close}
        />
      ) : null}
      {dialog === 'delete' ? <DeleteSegment segment={segment} onClose={close} /> : null}
    </Page>
  );
}

/** Computes the members of a segment whose entries and exits are tracked, or counts those of another. */
function useUpdate(id: string, isTracked: boolean, onDone: () => Promise<unknown>) {
  const path = { path: { id } };
  return useMutation({
    mutationFn: async () => {
      if (isTracked) {
        const { added, removed, total } = await answer(api.POST('/segments/{id}/compute', { params: path }));
        return `${counted(total, 'contact')}: ${count(added)} added, ${count(removed)} removed`;
      }
      const { memberCount: members } = await answer(api.POST('/segments/{id}/refresh', { params: path }));
      return counted(members, 'contact');
    },
    onSuccess: async (result) => {
      toast(result);
      await onDone();
    },
  });
}

function DeleteSegment({ segment: { id, name, memberCount }, onClose }: { segment: Segment; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${name}?`}
      action="Delete segment"
      onConfirm={async () => {
        await answer(api.DELETE('/segments/{id}', { params: { path: { id } } }));
        toast(`Segment “${name}” deleted`);
        await navigate({ to: '/app/$project/segments', params: { project } });
        await queries.invalidateQueries({ queryKey: ['segments', project], exact: true });
      }}
      onClose={onClose}
    >
      The segment and its {counted(memberCount, 'membership')} are deleted. The contacts are kept. Segments with a
      filter on it match no contacts by it.
    </ConfirmDialog>
  );
}

function membersOf(segment: string): ContactFilter {
  const filters = [{ field: `segment.${segment}`, operator: 'memberOfSegment' as const }];
  return { condition: { logic: 'AND', groups: [{ filters }] } };
}
