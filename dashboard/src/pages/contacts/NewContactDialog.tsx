import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { CheckField, TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { toast } from '../../ui/toasts.tsx';

/** Adds one person by hand and opens their page, where more can be said of them. */
export function NewContactDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const project = useProjectId();
  const navigate = useNavigate();
  const [email, setEmail] = useState('');
  const [subscribed, setSubscribed] = useState(false);
  const add = useMutation({
    mutationFn: async () => {
      const query = { limit: 1, search: email.trim() };
      const [known] = (await answer(api.GET('/contacts', { params: { query } }))).data;
      // Whoever is known already keeps their subscription.
      if (known?.email === email.trim().toLowerCase()) return { ...known, isNew: false };
      return { ...(await answer(api.POST('/contacts', { body: { email, subscribed } }))), isNew: true };
    },
    onSuccess: async (contact) => {
      toast(contact.isNew ? `${contact.email} added` : `${contact.email} is already a contact`);
      onDone();
      await navigate({ to: '/app/$project/contacts/$contact', params: { project, contact: contact.id } });
    },
  });
  return (
    <Dialog title="Add contact" onClose={onClose}>
      <Form onSubmit={() => add.mutate()}>
        <FormProblem error={add.error} fields={['email']} />
        <TextField
          label="Email address"
          type="email"
          required
          value={email}
          problem={problemOf(add.error, 'email')}
          onChange={(event) => setEmail(event.target.value)}
        />
        <CheckField
          label="Subscribed to marketing email"
          hint="Only with their consent."
          checked={subscribed}
          onChange={(event) => setSubscribed(event.target.checked)}
        />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={add.isPending}>
            Add contact
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
