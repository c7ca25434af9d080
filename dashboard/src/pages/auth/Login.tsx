import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { deployment } from '../../app/deployment.ts';
import { Note } from '../../ui/States.tsx';
import { Outside } from './Outside.tsx';
import { ProviderLinks } from './ProviderLinks.tsx';
import { SignInForm } from './SignInForm.tsx';

/** Signing in. `next` is where somebody wanted to go, `message` what a provider of sign-in has to say. */
export function Login() {
  const { next, message } = useSearch({ strict: false });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const config = useQuery(deployment);
  const goOn = async () => {
    queries.clear();
    // Only places of this dashboard: an address from outside could lead anywhere.
    if (next?.startsWith('/app') || next?.startsWith('/auth/invitation?')) await navigate({ href: next });
    else await navigate({ to: '/app' });
  };
  return (
    <Outside title="Sign in">
      {message ? <Note tone="warn">{message}</Note> : null}
      <SignInForm onSignedIn={() => void goOn()} />
      <ProviderLinks />
      <p className="row">
        <Link to="/auth/forgot-password">Forgot your password?</Link>
        {config.data?.features.signup.signupsDisabled ? null : <Link to="/auth/signup">Create account</Link>}
      </p>
    </Outside>
  );
}
