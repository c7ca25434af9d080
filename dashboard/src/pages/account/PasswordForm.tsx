import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { NewPasswordField } from '../auth/credentials.tsx';

/** Changes the password of the account, which signs out everywhere else. */
export function PasswordForm({ email }: { email: string }) {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: () => answer(api.POST('/users/@me/password', { body: { currentPassword, newPassword } })),
    onSuccess: async () => {
      toast('Password changed. You’re signed out everywhere else.');
      setCurrent('');
      setNew('');
      await queries.invalidateQueries({ queryKey: ['sessions'] });
    },
  });
  const { error } = change;
  return (
    <Card title="Password">
      <Form onSubmit={() => change.mutate()}>
        <FormProblem error={error} fields={['currentPassword', 'newPassword']} />
        <input type="hidden" autoComplete="username" value={email} readOnly />
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          value={currentPassword}
          problem={problemOf(error, 'currentPassword')}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <NewPasswordField
          label="New password"
          value={newPassword}
          problem={problemOf(error, 'newPassword')}
          onChange={setNew}
        />
        <Button type="submit" variant="primary" busy={change.isPending}>
          Change password
        </Button>
      </Form>
    </Card>
  );
}
