import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useSignOut } from '../../app/session.ts';
import { Button, buttonClass } from '../../ui/Button.tsx';
import { Note, Problem, Shown } from '../../ui/States.tsx';
import { Outside } from './Outside.tsx';

/** Where the link of the mail leads; without its token, where people wait who have not followed it yet. */
export function VerifyEmail() {
  const { token } = useSearch({ strict: false });
  return token ? <Confirm token={token} /> : <Waiting />;
}

function Confirm({ token }: { token: string }) {
  const confirmed = useQuery({
    queryKey: ['verify', token],
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => answer(api.POST('/auth/verify-email', { body: { token } })),
  });
  return (
    <Outside title="Email address confirmed">
      <Shown query={confirmed}>{({ data }) => <Note tone="good">{data.message}</Note>}</Shown>
      <Link className={buttonClass('primary')} to="/app">
        Continue
      </Link>
    </Outside>
  );
}

function Waiting() {
  const request = useMutation({ mutationFn: () => answer(api.POST('/auth/request-verification')) });
  const signOut = useSignOut();
  return (
    <Outside title="Confirm your email address">
      <p>We sent you an email with a confirmation link. Check your spam folder if you can’t find it.</p>
      {request.data ? <Note tone="good">{request.data.data.message}</Note> : null}
      {request.error ? <Problem error={request.error} /> : null}
      <Link className={buttonClass('primary')} to="/app">
        I confirmed my address
      </Link>
      <Button busy={request.isPending} onClick={() => request.mutate()}>
        Resend email
      </Button>
      <Button variant="plain" onClick={() => void signOut()}>
        Sign out
      </Button>
    </Outside>
  );
}
