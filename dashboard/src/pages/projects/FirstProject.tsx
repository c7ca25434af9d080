import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Problem } from '../../ui/States.tsx';
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const refused = create.error instanceof ApiError ? create.error : null;
  return (
    <Outside title="A new project">
      <p className="muted">A project has its own contacts, mail, keys and team; projects never see each other.</p>
      <form className="stack" onSubmit={submit}>
        {create.error && !refused?.fields.length ? <Problem error={create.error} /> : null}
        <TextField
          label="Name"
          required
          maxLength={100}
          value={name}
          problem={refused?.problemOf('name')}
          hint="Recipients see it as the sender's name where you give none."
          onChange={(event) => setName(event.target.value)}
        />
        <Button type="submit" look="primary" busy={create.isPending}>
          Create the project
        </Button>
      </form>
    </Outside>
  );
}
