import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { inputClass, SelectField, TextField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note, Problem, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { mayAdminister, type Project } from './project.ts';

const roles = { OWNER: 'Owner', ADMIN: 'Admin', MEMBER: 'Member' } as const;

interface Member {
  userId: string;
  email: string;
  role: keyof typeof roles;
  createdAt: string;
}

/** Who works on the project, and what each may do. */
export function Team({ project }: { project: Project }) {
  const [leaving, setLeaving] = useState<Member | null>(null);
  const queries = useQueryClient();
  const path = { id: project.id };
  const key = ['members', project.id];
  const members = useQuery({
    queryKey: key,
    queryFn: async () => (await answer(api.GET('/projects/{id}/members', { params: { path } }))).data,
  });
  const change = useMutation({
    mutationFn: ({ userId, role }: { userId: string; role: 'ADMIN' | 'MEMBER' }) =>
      answer(api.PATCH('/projects/{id}/members/{userId}', { params: { path: { ...path, userId } }, body: { role } })),
    onSuccess: ({ data }) => toast(`${data.email} is ${data.role === 'ADMIN' ? 'an admin' : 'a member'}`),
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  });
  const isAdmin = mayAdminister(project);
  return (
    <div className="stack">
      {isAdmin ? <Invite project={project} onAdded={() => queries.invalidateQueries({ queryKey: key })} /> : null}
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
                cell: ({ userId, email, role }) =>
                  isAdmin && role !== 'OWNER' ? (
                    <select
                      className={inputClass}
                      aria-label={`Role of ${email}`}
                      value={role}
                      onChange={(event) => change.mutate({ userId, role: event.target.value as 'ADMIN' | 'MEMBER' })}
                    >
                      <option value="ADMIN">Admin</option>
                      <option value="MEMBER">Member</option>
                    </select>
                  ) : (
                    roles[role]
                  ),
              },
              { key: 'since', title: 'Since', cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
              {
                key: 'remove',
                title: 'Action',
                cell: (member) =>
                  isAdmin && member.role !== 'OWNER' ? (
                    <Button size="small" look="danger" onClick={() => setLeaving(member)}>
                      Remove <span className="sr-only">{member.email}</span>
                    </Button>
                  ) : null,
              },
            ]}
          />
        )}
      </Shown>
      <Note>
        Members work with contacts and emails. Admins can also change settings, keys, domains, billing and the team.
      </Note>
      {leaving ? (
        <ConfirmDialog
          title={`Remove ${leaving.email}?`}
          action="Remove from team"
          onConfirm={async () => {
            await answer(
              api.DELETE('/projects/{id}/members/{userId}', { params: { path: { ...path, userId: leaving.userId } } }),
            );
            toast(`${leaving.email} was removed from the team`);
            await queries.invalidateQueries({ queryKey: key });
          }}
          onClose={() => setLeaving(null)}
        >
          {leaving.email} loses access to {project.name} immediately.
        </ConfirmDialog>
      ) : null}
    </div>
  );
}

function Invite({ project, onAdded }: { project: Project; onAdded: () => unknown }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<'ADMIN' | 'MEMBER'>('MEMBER');
  const add = useMutation({
    mutationFn: () =>
      answer(api.POST('/projects/{id}/members', { params: { path: { id: project.id } }, body: { email, role } })),
    onSuccess: async () => {
      toast(`${email} joined the team`);
      setEmail('');
      await onAdded();
    },
  });
  return (
    <Card title="Add team member">
      <Form className="filters" onSubmit={() => add.mutate()}>
        <TextField
          label="Email address"
          hint="They need a Posthorn account first."
          type="email"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <SelectField label="Role" value={role} onChange={(event) => setRole(event.target.value as 'ADMIN' | 'MEMBER')}>
          <option value="MEMBER">Member</option>
          <option value="ADMIN">Admin</option>
        </SelectField>
        <Button type="submit" look="primary" busy={add.isPending}>
          Add
        </Button>
      </Form>
      {add.error ? <Problem error={add.error} /> : null}
    </Card>
  );
}
