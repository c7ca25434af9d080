import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, LoaderCircle } from 'lucide-react';
import { useEffect } from 'react';
import { answer, api } from '../../../api/client.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Note } from '../../../ui/States.tsx';
import { type EmailSummary, stateOf } from '../../emails/email.ts';
import type { NewKey } from './SendFirst.tsx';

const pollMs = 2_000;
const underWay = new Set<EmailSummary['status']>(['PENDING', 'SENDING', 'SENT']);

/** Follows the first request live: nothing yet, a refused request, or an email on its way. */
export function Confirmation({ project, newKey }: { project: string; newKey: NewKey }) {
  const queries = useQueryClient();
  const emails = useQuery({
    queryKey: ['first-email', project, newKey.id],
    refetchInterval: ({ state }) => (isSettled(state.data?.data[0]) ? false : pollMs),
    queryFn: () =>
      answer(api.GET('/emails', { params: { query: { source: 'TRANSACTIONAL', from: newKey.createdAt, limit: 1 } } })),
  });
  const email = emails.data?.data[0];
  const key = useQuery({
    queryKey: ['first-key', project, newKey.id],
    enabled: email === undefined,
    refetchInterval: pollMs,
    queryFn: async () => {
      const keys = await answer(api.GET('/users/@me/projects/{id}/api-keys', { params: { path: { id: project } } }));
      return keys.find(({ id }) => id === newKey.id) ?? null;
    },
  });
  const hasArrived = email !== undefined;
  useEffect(() => {
    if (!hasArrived) return;
    void queries.invalidateQueries({ queryKey: ['overview', project] });
  }, [hasArrived, project, queries]);
  return (
    <div role="status" data-slot="confirmation">
      {email ? (
        <Note tone="good">
          <div className="row">
            <CircleCheck aria-hidden />
            <span>
              Your first email to <span className="break font-medium">{email.to}</span> was accepted.
            </span>
            <Badge tone={stateOf(email).tone}>{stateOf(email).name}</Badge>
            <Link
              to="/app/$project/emails/$email"
              params={{ project, email: email.id }}
              className="inline-block min-h-6 content-center text-current"
            >
              See what happens to it
            </Link>
          </div>
        </Note>
      ) : key.data?.lastUsedAt ? (
        <Note tone="warn">
          A request with this key came in, but no email was accepted. The response to the request says why. Waiting for
          the next one…
        </Note>
      ) : (
        <p className="row muted">
          <LoaderCircle aria-hidden className="size-4 animate-spin motion-reduce:animate-none" /> Waiting for your first
          request…
        </p>
      )}
    </div>
  );
}

function isSettled(email: EmailSummary | undefined): boolean {
  return email !== undefined && !underWay.has(email.status);
}
