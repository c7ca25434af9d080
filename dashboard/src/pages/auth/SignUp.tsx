import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { EmailField, NewPasswordField } from './credentials.tsx';
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
  return (
    <Outside title="Create your account">
      <Form onSubmit={() => signUp.mutate()}>
        <FormProblem error={signUp.error} fields={['email', 'password']} />
        <EmailField value={email} problem={problemOf(signUp.error, 'email')} onChange={setEmail} />
        <NewPasswordField
          label="Password"
          value={password}
          problem={problemOf(signUp.error, 'password')}
          onChange={setPassword}
        />
        <Button type="submit" variant="primary" busy={signUp.isPending}>
          Create account
        </Button>
      </Form>
      <p>
        <Link to="/auth/login">Already have an account? Sign in</Link>
      </p>
    </Outside>
  );
}
