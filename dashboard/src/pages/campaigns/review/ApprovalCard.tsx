import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { myProjects, whoAmI } from '../../../app/session.ts';
import { Button } from '../../../ui/Button.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Problem } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import { mayAdminister } from '../../settings/project.ts';
import type { Campaign } from '../campaign.ts';

/** A send that waits for an admin: who asked for it, and what may be done about it. */
export function ApprovalCard({ campaign }: { campaign: Campaign }) {
  const { id, approval } = campaign;
  const project = useProjectId();
  const queries = useQueryClient();
  const { data: user } = useQuery(whoAmI);
  const { data: projects } = useQuery(myProjects);
  const onSettled = () => queries.invalidateQueries({ queryKey: ['campaigns', project] });
  const approve = useMutation({
    mutationFn: (fingerprint: string) =>
      answer(api.POST('/campaigns/{id}/approve', { params: { path: { id } }, body: { fingerprint } })),
    onSuccess: ({ message }) => toast(message),
    onSettled,
  });
  const withdraw = useMutation({
    mutationFn: () => answer(api.DELETE('/campaigns/{id}/approval', { params: { path: { id } } })),
    onSuccess: () => toast('This send is no longer waiting for approval'),
    onSettled,
  });
  if (approval === null) return null;
  const { requestedBy, requestedAt, recipients, scheduledFor, expiresAt, fingerprint } = approval;
  const own = projects?.find((each) => each.id === project);
  const isMine = requestedBy.kind === 'user' && requestedBy.id === user?.id;
  const isAdmin = own !== undefined && mayAdminister(own);
  const error = approve.error ?? withdraw.error;
  return (
    <Card title="Waiting for approval">
      <div className="stack">
        <p>
          {isMine ? 'You' : (requestedBy.name ?? 'An API key')} asked to send this campaign to{' '}
          {counted(recipients, 'contact')} <Timestamp at={requestedAt} />.{' '}
          {scheduledFor ? (
            <>
              It would be sent <Timestamp at={scheduledFor} />.{' '}
            </>
          ) : null}
          The request expires <Timestamp at={expiresAt} />.
        </p>
        {isMine ? <p className="muted">Another admin has to approve it.</p> : null}
        {error ? <Problem error={error} /> : null}
        <div className="row">
          {isAdmin && !isMine ? (
            <Button variant="primary" busy={approve.isPending} onClick={() => approve.mutate(fingerprint)}>
              Approve and send
            </Button>
          ) : null}
          {isAdmin || isMine ? (
            <Button busy={withdraw.isPending} onClick={() => withdraw.mutate()}>
              {isMine ? 'Withdraw request' : 'Decline'}
            </Button>
          ) : null}
        </div>
      </div>
    </Card>
  );
}
