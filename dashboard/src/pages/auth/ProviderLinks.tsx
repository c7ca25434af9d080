import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { buttonClass } from '../../ui/Button.tsx';

const providers = { github: 'GitHub', google: 'Google' } as const;

/** Ways to sign in by an account elsewhere; none where this deployment offers none. */
export function ProviderLinks({ target }: { target?: '_blank' }) {
  const { data: ways } = useQuery({
    queryKey: ['oauth'],
    queryFn: async () => (await answer(api.GET('/auth/oauth-config'))).data,
  });
  return (Object.keys(providers) as (keyof typeof providers)[])
    .filter((provider) => ways?.[provider])
    .map((provider) => (
      <a key={provider} className={buttonClass()} href={`/oauth/${provider}/outbound`} target={target}>
        Sign in with {providers[provider]}
        {target ? <span className="sr-only"> in a new window</span> : null}
      </a>
    ));
}
