import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Problem, Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import type { Project } from '../project.ts';
import { type GivenRole, roleNames } from './roles.ts';

/** Invitations that nobody has accepted yet; an admin sends them again or revokes them. */
export function Invitations({ project, isAdmin }: { project: Project; isAdmin: boolean }) {
  const queries = useQueryClient();
  const path = { id: project.id };
  const key = ['invitations', project.id];
  const refresh = () => queries.invalidateQueries({ queryKey: key });
  const invitations = useQuery({
    queryKey: key,
    queryFn: async () => (await answer(api.GET('/projects/{id}/invitations', { params: { path } }))).data,
  });
  const resend = useMutation({
    mutationFn: (body: { email: string; role: GivenRole }) =>
      answer(api.POST('/projects/{id}/invitations', { params: { path }, body })),
    onSuccess: ({ email }) => toast(`Invitation sent to ${email} again`),
    onSettled: refresh,
  });
  const revoke = useMutation({
    mutationFn: ({ id }: { id: string; email: string }) =>
      answer(
        api.DELETE('/projects/{id}/invitations/{invitationId}', { params: { path: { ...path, invitationId: id } } }),
      ),
    onSuccess: (_, { email }) => toast(`The invitation to ${email} no longer works`),
    onSettled: refresh,
  });
  const error = resend.error ?? revoke.error;
  return (
    <>
      {error ? <Problem error={error} /> : null}
      <Shown query={invitations}>
        {(all) =>
          all.length === 0 ? null : (
            <Table
              label="Pending invitations"
              rows={all}
              rowKey={({ id }) => id}
              columns={[
                { key: 'email', title: 'Invited', cell: ({ email }) => email },
                { key: 'role', title: 'Role', cell: ({ role }) => roleNames[role] },
                { key: 'expires', title: 'Expires', cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
                {
                  key: 'actions',
                  title: 'Actions',
                  cell: ({ id, email, role }) =>
                    isAdmin && role !== 'OWNER' ? (
                      <span className="row">
                        <Button size="small" onClick={() => resend.mutate({ email, role })}>
                          Resend <span className="sr-only">invitation to {email}</span>
                        </Button>
                        <Button size="small" variant="danger" onClick={() => revoke.mutate({ id, email })}>
                          Revoke <span className="sr-only">invitation to {email}</span>
                        </Button>
                      </span>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}

function Expiry({ at }: { at: string }) {
  return Date.parse(at) < Date.now() ? <Badge tone="warn">Expired</Badge> : <Timestamp at={at} />;
}
