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

/** Sends a campaign or template to one member of the team, as it is on the screen. */
export function TestDialog({
  kind,
  name,
  id,
  save,
  onClose,
}: {
  kind: 'campaigns' | 'templates';
  name: string;
  /** Null for what is not saved yet. */
  id: string | null;
  /** Saves what has changed and answers its id, or null where somebody else has changed it too; null when nothing has changed. */
  save: (() => Promise<string | null>) | null;
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
    mutationFn: async () => {
      const saved = save ? await save() : id;
      if (saved === null) return null;
      return answer(api.POST(`/${kind}/{id}/test`, { params: { path: { id: saved } }, body: { email } }));
    },
    // The page asks what to do about the conflict.
    onSuccess: (sent) => (sent === null ? onClose() : undefined),
  });
  return (
    <Dialog
      title={name ? `Send a test of ${name}` : 'Send a test'}
      description="Goes to one team member, marked as a test. It isn’t counted in results."
      onClose={onClose}
    >
      <Form onSubmit={() => send.mutate()}>
        <SelectField label="To" value={email} onChange={(event) => setEmail(event.target.value)}>
          {(members.data ?? [{ email }]).map((member) => (
            <option key={member.email}>{member.email}</option>
          ))}
        </SelectField>
        {save ? <Note>Your changes are saved first.</Note> : null}
        {send.data ? <Note tone="good">{send.data.message}</Note> : null}
        {send.error ? <Problem error={send.error} /> : null}
        <footer>
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" look="primary" busy={send.isPending}>
            {save ? 'Save and send test' : 'Send test'}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
