import { useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button, buttonClass } from '../../ui/Button.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Note } from '../../ui/States.tsx';
import { EmailField, NewPasswordField } from './credentials.tsx';
import { Outside } from './Outside.tsx';

/** Asking for a link that sets a new password. */
export function RequestReset() {
  const [email, setEmail] = useState('');
  const request = useMutation({
    mutationFn: () => answer(api.POST('/auth/request-password-reset', { body: { email } })),
  });
  return (
    <Outside title="Reset your password">
      <p className="muted">Enter the email address of your account. We’ll send you a link to set a new password.</p>
      {request.data ? <Note tone="good">{request.data.data.message}</Note> : null}
      <Form onSubmit={() => request.mutate()}>
        <FormProblem error={request.error} fields={['email']} />
        <EmailField value={email} problem={problemOf(request.error, 'email')} onChange={setEmail} />
        <Button type="submit" variant="primary" busy={request.isPending}>
          Send reset link
        </Button>
      </Form>
      <p>
        <Link to="/auth/login">Back to sign in</Link>
      </p>
    </Outside>
  );
}

/** Where the link of the mail leads: sets the new password. */
export function ResetPassword() {
  const { token = '' } = useSearch({ strict: false });
  const [password, setPassword] = useState('');
  const reset = useMutation({
    mutationFn: () => answer(api.POST('/auth/reset-password', { body: { token, newPassword: password } })),
  });
  if (reset.isSuccess)
    return (
      <Outside title="Password changed">
        <p>All sessions that used the old password are signed out.</p>
        <Link className={buttonClass('primary')} to="/auth/login">
          Sign in
        </Link>
      </Outside>
    );
  return (
    <Outside title="Choose a new password">
      <Form onSubmit={() => reset.mutate()}>
        <FormProblem error={reset.error} fields={['newPassword']} />
        <NewPasswordField
          label="New password"
          value={password}
          problem={problemOf(reset.error, 'newPassword')}
          onChange={setPassword}
        />
        <Button type="submit" variant="primary" busy={reset.isPending}>
          Change password
        </Button>
      </Form>
      <p>
        <Link to="/auth/forgot-password">Request a new link</Link>
      </p>
    </Outside>
  );
}
