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
    <Outside title="Create a project">
      <p className="muted">Each project has its own contacts, emails, API keys and team.</p>
      <Form onSubmit={() => create.mutate()}>
        <FormProblem error={create.error} fields={['name']} />
        <TextField
          label="Name"
          required
          maxLength={100}
          value={name}
          problem={problemOf(create.error, 'name')}
          hint="Used as the From name unless you set another one."
          onChange={(event) => setName(event.target.value)}
        />
        <Button type="submit" variant="primary" busy={create.isPending}>
          Create project
        </Button>
      </Form>
    </Outside>
  );
}
