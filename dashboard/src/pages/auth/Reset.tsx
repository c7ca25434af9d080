import { useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { Outside } from './Outside.tsx';

/** Asking for a link that sets a new password. */
export function RequestReset() {
  const [email, setEmail] = useState('');
  const request = useMutation({
    mutationFn: () => answer(api.POST('/auth/request-password-reset', { body: { email } })),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    request.mutate();
  };
  return (
    <Outside title="A new password">
      {request.data ? <Note tone="good">{request.data.data.message}</Note> : null}
      {request.error ? <Problem error={request.error} /> : null}
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Email address"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Button type="submit" look="primary" busy={request.isPending}>
          Send the link
        </Button>
      </form>
      <p>
        <Link to="/auth/login">Back to the sign-in</Link>
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    reset.mutate();
  };
  const refused = reset.error instanceof ApiError ? reset.error : null;
  if (reset.isSuccess)
    return (
      <Outside title="Your password is changed">
        <p>Everybody who was signed in with the old one is signed out.</p>
        <Link className="button" data-look="primary" to="/auth/login">
          Sign in
        </Link>
      </Outside>
    );
  return (
    <Outside title="Choose a new password">
      {reset.error && !refused?.problemOf('newPassword') ? <Problem error={reset.error} /> : null}
      <form className="stack" onSubmit={submit}>
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="At least 6 characters; a sentence is better."
          required
          value={password}
          problem={refused?.problemOf('newPassword')}
          onChange={(event) => setPassword(event.target.value)}
        />
        <Button type="submit" look="primary" busy={reset.isPending}>
          Change the password
        </Button>
      </form>
      <p>
        <Link to="/auth/forgot-password">Ask for another link</Link>
      </p>
    </Outside>
  );
}
