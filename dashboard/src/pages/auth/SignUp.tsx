import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Problem } from '../../ui/States.tsx';
import { Outside } from './Outside.tsx';

/** Creating an account. */
export function SignUp() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const navigate = useNavigate();
  const queries = useQueryClient();
  const signUp = useMutation({
    mutationFn: () => answer(api.POST('/auth/signup', { body: { email, password } })),
    onSuccess: async () => {
      queries.clear();
      await navigate({ to: '/app' });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signUp.mutate();
  };
  const refused = signUp.error instanceof ApiError ? signUp.error : null;
  return (
    <Outside title="Create an account">
      <form className="stack" onSubmit={submit}>
        {signUp.error && !refused?.fields.length ? <Problem error={signUp.error} /> : null}
        <TextField
          label="Email address"
          type="email"
          autoComplete="username"
          required
          value={email}
          problem={refused?.problemOf('email')}
          onChange={(event) => setEmail(event.target.value)}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="At least 6 characters; a sentence is better."
          required
          value={password}
          problem={refused?.problemOf('password')}
          onChange={(event) => setPassword(event.target.value)}
        />
        <Button type="submit" look="primary" busy={signUp.isPending}>
          Create the account
        </Button>
      </form>
      <p>
        <Link to="/auth/login">I have an account</Link>
      </p>
    </Outside>
  );
}
