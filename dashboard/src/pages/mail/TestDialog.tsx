import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Refusal } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { myProjects, whoAmI } from '../../app/session.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { Note, Problem } from '../../ui/States.tsx';

/** Sends a campaign or template to one member of the team or a test address, exactly as recipients will get it. */
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
  const [shownFor, setShownFor] = useState('');
  const members = useQuery({
    queryKey: ['members', project],
    queryFn: async () => (await answer(api.GET('/projects/{id}/members', { params: { path: { id: project } } }))).data,
  });
  const { data: projects } = useQuery(myProjects);
  const testAddresses = projects?.find((each) => each.id === project)?.testAddresses ?? [];
  const addresses = [...new Set([...(members.data ?? [{ email }]).map((each) => each.email), ...testAddresses])];
  const send = useMutation({
    mutationFn: async () => {
      const previewContactId = shownFor.trim() === '' ? null : await contactNamed(shownFor.trim());
      const saved = save ? await save() : id;
      if (saved === null) return null;
      return answer(
        api.POST(`/${kind}/{id}/test`, {
          params: { path: { id: saved } },
          body: { email, previewContactId, asSent: true },
        }),
      );
    },
    // The page asks what to do about the conflict.
    onSuccess: (sent) => (sent === null ? onClose() : undefined),
  });
  return (
    <Dialog
      title={name ? `Send a test of ${name}` : 'Send a test'}
      description="Sent as recipients will get it, with [TEST] in the subject. Its unsubscribe links change nobody, and it isn’t counted in results."
      onClose={onClose}
    >
      <Form onSubmit={() => send.mutate()}>
        <SelectField label="To" value={email} onChange={(event) => setEmail(event.target.value)}>
          {addresses.map((address) => (
            <option key={address}>{address}</option>
          ))}
        </SelectField>
        <TextField
          label="Fill in for"
          type="email"
          hint="The email of a contact whose data fills in the variables. Leave empty to use the contact with the address above, or the fallback values."
          value={shownFor}
          onChange={(event) => setShownFor(event.target.value)}
        />
        {save ? <Note>Your changes are saved first.</Note> : null}
        {send.data ? <Note tone="good">{send.data.message}</Note> : null}
        {send.error ? <Problem error={send.error} /> : null}
        <footer>
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" variant="primary" busy={send.isPending}>
            {save ? 'Save and send test' : 'Send test'}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

/** The ID of the contact with this address. @throws when there is none */
async function contactNamed(email: string): Promise<string> {
  const { data } = await answer(api.GET('/contacts', { params: { query: { email } } }));
  const [contact] = data;
  if (contact === undefined) throw new Refusal(`No contact has the email ${email}.`);
  return contact.id;
}
