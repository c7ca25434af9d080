import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { Button } from '../../../ui/Button.tsx';
import { SelectField, TextField } from '../../../ui/Field.tsx';
import { Form } from '../../../ui/Form.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Problem } from '../../../ui/States.tsx';
import { toast } from '../../../ui/toasts.tsx';
import type { Project } from '../project.ts';
import type { GivenRole } from './roles.ts';

/** Invites an address by mail. */
export function InviteForm({ project, onInvited }: { project: Project; onInvited: () => unknown }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<GivenRole>('MEMBER');
  const invite = useMutation({
    mutationFn: () =>
      answer(api.POST('/projects/{id}/invitations', { params: { path: { id: project.id } }, body: { email, role } })),
    onSuccess: async (invitation) => {
      toast(`Invitation sent to ${invitation.email}`);
      setEmail('');
      await onInvited();
    },
  });
  return (
    <Card title="Invite team member">
      <p className="mb-4 text-muted">They get a link that works for seven days. They don’t need an account yet.</p>
      <Form className="filters" onSubmit={() => invite.mutate()}>
        <TextField
          label="Email address"
          type="email"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <SelectField label="Role" value={role} onChange={(event) => setRole(event.target.value as GivenRole)}>
          <option value="MEMBER">Member</option>
          <option value="ADMIN">Admin</option>
        </SelectField>
        <Button type="submit" variant="primary" busy={invite.isPending}>
          Send invitation
        </Button>
      </Form>
      {invite.error ? <Problem error={invite.error} /> : null}
    </Card>
  );
}
