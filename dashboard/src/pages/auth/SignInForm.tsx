import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form, problemOf } from '../../ui/Form.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { EmailField } from './credentials.tsx';

/** Address and password. */
export function SignInForm({ email: known = '', onSignedIn }: { email?: string; onSignedIn: () => void }) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () => answer(api.POST('/auth/login', { body: { email, password } })),
    onSuccess: onSignedIn,
  });
  return (
    <Form onSubmit={() => signIn.mutate()}>
      {/* A password too short to be anybody’s is a wrong one, whatever the rules for new ones are. */}
      {problemOf(signIn.error, 'password') ? (
        <Note tone="bad">The email address or the password is wrong.</Note>
      ) : signIn.error ? (
        <Problem error={signIn.error} />
      ) : null}
      <EmailField value={email} onChange={setEmail} />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Button type="submit" variant="primary" busy={signIn.isPending}>
        Sign in
      </Button>
    </Form>
  );
}
