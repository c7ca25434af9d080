import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Outside } from '../auth/Outside.tsx';

/** Creating a project: the first one of an account, or another. */
export function FirstProject() {
  const [name, setName] = useState('');
  const navigate = useNavigate();
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => answer(api.POST('/users/@me/projects', { body: { name } })),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['projects'] });
      await navigate({ to: '/app/$project', params: { project: id } });
    },
  });
  return (
    <Outside title="A new project">
      <p className="muted">A project has its own contacts, mail, keys and team; projects never see each other.</p>
      <Form onSubmit={() => create.mutate()}>
        <FormProblem error={create.error} fields={['name']} />
        <TextField
          label="Name"
          required
          maxLength={100}
          value={name}
          problem={problemOf(create.error, 'name')}
          hint="Recipients see it as the sender's name where you give none."
          onChange={(event) => setName(event.target.value)}
        />
        <Button type="submit" look="primary" busy={create.isPending}>
          Create the project
        </Button>
      </Form>
    </Outside>
  );
}
