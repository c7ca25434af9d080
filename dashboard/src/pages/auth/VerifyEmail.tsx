import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { Note, Shown } from '../../ui/States.tsx';
import { Outside } from './Outside.tsx';

/** Where the link of the mail leads: confirms the address. */
export function VerifyEmail() {
  const { token = '' } = useSearch({ strict: false });
  const confirmed = useQuery({
    queryKey: ['verify', token],
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => answer(api.POST('/auth/verify-email', { body: { token } })),
  });
  return (
    <Outside title="Your email address">
      <Shown query={confirmed}>{({ data }) => <Note tone="good">{data.message}</Note>}</Shown>
      <Link className="button" data-look="primary" to="/app">
        Go on
      </Link>
    </Outside>
  );
}
