import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { whoAmI } from '../../app/session.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { Note, Problem } from '../../ui/States.tsx';

/** Sends a saved campaign or template to one member of the team. */
export function TestDialog({
  kind,
  id,
  name,
  onClose,
}: {
  kind: 'campaigns' | 'templates';
  id: string;
  name: string;
  onClose: () => void;
}) {
  const project = useProjectId();
  const { data: user } = useQuery(whoAmI);
  const [email, setEmail] = useState(user?.email ?? '');
  const members = useQuery({
    queryKey: ['members', project],
    queryFn: async () => (await answer(api.GET('/projects/{id}/members', { params: { path: { id: project } } }))).data,
  });
  const send = useMutation({
    mutationFn: () => answer(api.POST(`/${kind}/{id}/test`, { params: { path: { id } }, body: { email } })),
  });
  return (
    <Dialog
      title={`Send a test of ${name}`}
      description="Goes to one team member, marked as a test. It isn’t counted in results."
      onClose={onClose}
    >
      <Form onSubmit={() => send.mutate()}>
        <SelectField label="To" value={email} onChange={(event) => setEmail(event.target.value)}>
          {(members.data ?? [{ email }]).map((member) => (
            <option key={member.email}>{member.email}</option>
          ))}
        </SelectField>
        {send.data ? <Note tone="good">{send.data.message}</Note> : null}
        {send.error ? <Problem error={send.error} /> : null}
        <footer>
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" look="primary" busy={send.isPending}>
            Send test
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
