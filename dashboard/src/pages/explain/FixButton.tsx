import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import type { Explanation } from './Trail.tsx';
import { useOpen } from './use-open.ts';

type Fix = Explanation['fixes'][number];

/** Does what an explanation offers, after asking. A campaign is sent from its own page, where it is reviewed. */
export function FixButton({ fix, onFixed }: { fix: Fix; onFixed: () => void }) {
  const { sentence, path } = fix;
  const [isAsked, setAsked] = useState(false);
  const queries = useQueryClient();
  const open = useOpen();
  if (path.endsWith('/send')) return <Button onClick={() => open(path.replace(/\/send$/, ''))}>{sentence}</Button>;
  return (
    <>
      <Button onClick={() => setAsked(true)}>{sentence}</Button>
      {isAsked ? (
        <ConfirmDialog
          title={`${sentence}?`}
          action={sentence}
          variant="primary"
          onConfirm={async () => {
            await carryOut(fix);
            toast('Done');
            await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'explain' });
            onFixed();
          }}
          onClose={() => setAsked(false)}
        >
          This takes effect at once. The explanation is then updated.
        </ConfirmDialog>
      ) : null}
    </>
  );
}

// The path is whole already: there is nothing in it to fill in.
function carryOut({ method, path, body }: Fix): Promise<unknown> {
  const call = api[method] as (path: string, request: { body: unknown }) => Parameters<typeof answer>[0];
  return answer(call(path, { body }));
}
