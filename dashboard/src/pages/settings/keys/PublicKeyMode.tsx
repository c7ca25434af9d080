import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { Button } from '../../../ui/Button.tsx';
import { CheckField, TextField } from '../../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../../ui/Form.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { mayAdminister, type Project } from '../project.ts';

type Change = Pick<components['schemas']['UpdateProjectRequest'], 'publicKeyMode' | 'publicKeyRequestsPerMinute'>;

/** Whether the public key has a rate limit and idempotency keys of its own, and how high that limit is. */
export function PublicKeyMode({ project }: { project: Project }) {
  const [perMinute, setPerMinute] = useState(String(project.publicKeyRequestsPerMinute));
  const queries = useQueryClient();
  const isAdmin = mayAdminister(project);
  const change = useMutation({
    mutationFn: (body: Change) =>
      answer(api.PATCH('/users/@me/projects/{id}', { params: { path: { id: project.id } }, body })),
    onSuccess: ({ publicKeyMode }) =>
      toast(publicKeyMode === 'hardened' ? 'The public key is hardened' : 'The public key shares the project’s limits'),
    onSettled: () => Promise.all(['projects', 'overview'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
  const isHardened = (change.isPending ? change.variables.publicKeyMode : undefined) ?? project.publicKeyMode;
  return (
    <Form onSubmit={() => change.mutate({ publicKeyRequestsPerMinute: Number(perMinute) })}>
      <CheckField
        label="Harden the public key"
        hint="Recommended when browsers or apps use it: visitors can’t use up the rate limit or the idempotency keys of your servers."
        checked={isHardened === 'hardened'}
        disabled={!isAdmin || change.isPending}
        onChange={(event) => change.mutate({ publicKeyMode: event.target.checked ? 'hardened' : 'contract' })}
      />
      {isHardened === 'hardened' ? (
        <>
          <TextField
            label="Requests per minute"
            type="number"
            min={1}
            max={1_000_000}
            required
            disabled={!isAdmin}
            value={perMinute}
            problem={problemOf(change.error, 'publicKeyRequestsPerMinute')}
            onChange={(event) => setPerMinute(event.target.value)}
          />
          {isAdmin ? (
            <div>
              <Button type="submit" busy={change.isPending}>
                Save limit
              </Button>
            </div>
          ) : null}
        </>
      ) : null}
      <FormProblem error={change.error} fields={['publicKeyRequestsPerMinute']} />
    </Form>
  );
}
