import type { UseQueryResult } from '@tanstack/react-query';
import { Loading, Note, Problem } from '../../../ui/States.tsx';
import { counted } from '../../../words/numbers.ts';

/** How many recipients of an earlier campaign a draft would go to now. */
export function EarlierCount({ found }: { found: UseQueryResult<{ recipients: number; unsubscribed: number }> }) {
  if (found.error) return <Problem error={found.error} again={() => void found.refetch()} />;
  if (found.data === undefined) return <Loading what="Counting" />;
  const { recipients, unsubscribed } = found.data;
  const left = unsubscribed === 0 ? '' : ` ${counted(unsubscribed, 'unsubscribed contact')} excluded.`;
  return (
    <div aria-live="polite" aria-busy={found.isFetching}>
      <Note {...(recipients === 0 ? { tone: 'warn' as const } : {})}>
        {recipients === 0
          ? `None of these recipients can receive the email.${left}`
          : `${counted(recipients, 'contact')} right now.${left}`}
      </Note>
    </div>
  );
}
