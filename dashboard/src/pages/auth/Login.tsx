import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { Note } from '../../ui/States.tsx';
import { Outside } from './Outside.tsx';
import { SignInForm } from './SignInForm.tsx';

/** Signing in. `next` is where somebody wanted to go, `message` what a provider of sign-in has to say. */
export function Login() {
  const { next, message } = useSearch({ strict: false });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: ways } = useQuery({
    queryKey: ['oauth'],
    queryFn: async () => (await answer(api.GET('/auth/oauth-config'))).data,
  });
  const goOn = async () => {
    queries.clear();
    // Only places of this dashboard: an address from outside could lead anywhere.
    if (next?.startsWith('/app')) await navigate({ href: next });
    else await navigate({ to: '/app' });
  };
  return (
    <Outside title="Sign in">
      {message ? <Note tone="warn">{message}</Note> : null}
      <SignInForm onSignedIn={() => void goOn()} />
      {ways?.github ? (
        <a className="button" href="/oauth/github/outbound">
          Sign in with GitHub
        </a>
      ) : null}
      {ways?.google ? (
        <a className="button" href="/oauth/google/outbound">
          Sign in with Google
        </a>
      ) : null}
      <p>
        <Link to="/auth/forgot-password">Forgotten your password?</Link> ·{' '}
        <Link to="/auth/signup">Create an account</Link>
      </p>
    </Outside>
  );
}
