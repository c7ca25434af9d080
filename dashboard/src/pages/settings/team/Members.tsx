import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { inputClass } from '../../../ui/Field.tsx';
import { Problem, Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import type { Project } from '../project.ts';
import { type GivenRole, roleNames } from './roles.ts';

interface Member {
  userId: string;
  email: string;
  role: keyof typeof roleNames;
  createdAt: string;
}

/** The members of a project; an admin changes their roles and removes them. */
export function Members({ project, isAdmin }: { project: Project; isAdmin: boolean }) {
  const [leaving, setLeaving] = useState<Member | null>(null);
  const queries = useQueryClient();
  const path = { id: project.id };
  const key = ['members', project.id];
  const members = useQuery({
    queryKey: key,
    queryFn: async () => (await answer(api.GET('/projects/{id}/members', { params: { path } }))).data,
  });
  const change = useMutation({
    mutationFn: ({ userId, role }: { userId: string; role: GivenRole }) =>
      answer(api.PATCH('/projects/{id}/members/{userId}', { params: { path: { ...path, userId } }, body: { role } })),
    onSuccess: ({ data }) => toast(`${data.email} is ${data.role === 'ADMIN' ? 'an admin' : 'a member'}`),
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  });
  const remove = async ({ userId, email }: Member) => {
    await answer(api.DELETE('/projects/{id}/members/{userId}', { params: { path: { ...path, userId } } }));
    toast(`${email} was removed from the team`);
    await queries.invalidateQueries({ queryKey: key });
  };
  return (
    <>
      {change.error ? <Problem error={change.error} /> : null}
      <Shown query={members}>
        {(all) => (
          <Table
            label="Team"
            rows={all}
            rowKey={({ userId }) => userId}
            columns={[
              { key: 'email', title: 'Email', cell: ({ email }) => email },
              {
                key: 'role',
                title: 'Role',
                cell: (member) =>
                  isAdmin && member.role !== 'OWNER' ? (
                    <RoleSelect member={member} onChange={(role) => change.mutate({ userId: member.userId, role })} />
                  ) : (
                    roleNames[member.role]
                  ),
              },
              { key: 'since', title: 'Since', cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
              {
                key: 'remove',
                title: 'Action',
                cell: (member) =>
                  isAdmin && member.role !== 'OWNER' ? (
                    <Button size="small" variant="danger" onClick={() => setLeaving(member)}>
                      Remove <span className="sr-only">{member.email}</span>
                    </Button>
                  ) : null,
              },
            ]}
          />
        )}
      </Shown>
      {leaving ? (
        <ConfirmDialog
          title={`Remove ${leaving.email}?`}
          action="Remove from team"
          onConfirm={() => remove(leaving)}
          onClose={() => setLeaving(null)}
        >
          {leaving.email} loses access to {project.name} immediately.
        </ConfirmDialog>
      ) : null}
    </>
  );
}

function RoleSelect({ member, onChange }: { member: Member; onChange: (role: GivenRole) => void }) {
  return (
    <select
      className={inputClass}
      aria-label={`Role of ${member.email}`}
      value={member.role}
      onChange={(event) => onChange(event.target.value as GivenRole)}
    >
      <option value="ADMIN">Admin</option>
      <option value="MEMBER">Member</option>
    </select>
  );
}
