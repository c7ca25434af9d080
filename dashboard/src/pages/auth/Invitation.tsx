import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, answer, api } from '../../api/client.ts';
import { myProjects, useSignOut, whoAmI } from '../../app/session.ts';
import { Button, buttonClass } from '../../ui/Button.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Problem, Shown } from '../../ui/States.tsx';
import { NewPasswordField } from './credentials.tsx';
import { Outside } from './Outside.tsx';

interface Found {
  project: { id: string; name: string };
  email: string;
  hasAccount: boolean;
  invitedBy: string | null;
}
interface Accepting {
  token: string;
  found: Found;
}

/** Where the link of an invitation leads: join with the account one has, or with a new one. */
export function Invitation() {
  const { token = '' } = useSearch({ strict: false });
  const invitation = useQuery({
    queryKey: ['invitation', token],
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: token !== '',
    queryFn: () => answer(api.POST('/invitations/find', { body: { token } })),
  });
  return (
    <Outside title={invitation.data ? `Join ${invitation.data.project.name}` : 'Invitation'}>
      {token === '' ? (
        <p>This link is incomplete. Open it from the invitation email again.</p>
      ) : (
        <Shown query={invitation}>{(found) => <Offer token={token} found={found} />}</Shown>
      )}
      {invitation.error || token === '' ? <Link to="/auth/login">Go to sign in</Link> : null}
    </Outside>
  );
}

function Offer({ token, found }: Accepting) {
  const { data: user, error, isPending } = useQuery({ ...whoAmI, retry: false });
  if (isPending) return null;
  // An address that is not confirmed yet is confirmed by accepting.
  const isUnconfirmed = error instanceof ApiError && error.code === 'EMAIL_VERIFICATION_REQUIRED';
  return (
    <>
      <p>
        {found.invitedBy ?? 'Your team'} invited {found.email} to {found.project.name}.
      </p>
      {user?.email === found.email || isUnconfirmed ? <Join token={token} found={found} /> : null}
      {user && user.email !== found.email ? <OtherAccount email={user.email} wanted={found.email} /> : null}
      {user || isUnconfirmed ? null : <SignedOut token={token} found={found} />}
    </>
  );
}

/** Opens the project that was joined. */
function useOpenProject(): (project: string) => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async (project) => {
    queries.clear();
    await queries.ensureQueryData(myProjects);
    await navigate({ to: '/app/$project', params: { project } });
  };
}

function Join({ token, found }: Accepting) {
  const open = useOpenProject();
  const accept = useMutation({
    mutationFn: () => answer(api.POST('/invitations/accept', { body: { token } })),
    onSuccess: ({ data }) => open(data.projectId),
  });
  return (
    <>
      {accept.error ? <Problem error={accept.error} /> : null}
      <Button variant="primary" busy={accept.isPending} onClick={() => accept.mutate()}>
        Join {found.project.name}
      </Button>
    </>
  );
}

function OtherAccount({ email, wanted }: { email: string; wanted: string }) {
  const queries = useQueryClient();
  const signOut = useSignOut();
  return (
    <>
      <p className="muted">
        You’re signed in as {email}. Sign out, then open the link in the email to {wanted} again.
      </p>
      <Button onClick={() => void signOut().then(() => queries.clear())}>Sign out</Button>
    </>
  );
}

function SignedOut({ token, found }: Accepting) {
  return found.hasAccount ? (
    <Link
      className={buttonClass('primary')}
      to="/auth/login"
      search={{ next: `/auth/invitation?token=${encodeURIComponent(token)}` }}
    >
      Sign in to join
    </Link>
  ) : (
    <CreateAccount token={token} found={found} />
  );
}

function CreateAccount({ token, found }: Accepting) {
  const [password, setPassword] = useState('');
  const open = useOpenProject();
  const signUp = useMutation({
    mutationFn: () => answer(api.POST('/invitations/sign-up', { body: { token, password } })),
    onSuccess: () => open(found.project.id),
  });
  return (
    <Form onSubmit={() => signUp.mutate()}>
      <FormProblem error={signUp.error} fields={['password']} />
      <input type="hidden" autoComplete="username" value={found.email} readOnly />
      <NewPasswordField
        label="Choose a password"
        value={password}
        problem={problemOf(signUp.error, 'password')}
        onChange={setPassword}
      />
      <Button type="submit" variant="primary" busy={signUp.isPending}>
        Create account and join
      </Button>
    </Form>
  );
}
