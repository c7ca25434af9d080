import { queryOptions, useQuery } from '@tanstack/react-query';
import { answer, api } from '../api/client.ts';
import { Note } from '../ui/States.tsx';
import { clockText } from '../words/times.ts';

/** Shows the work under way in a project, and the reason its mail waits. */
export const runningIn = (project: string) =>
  queryOptions({ queryKey: ['running', project], queryFn: () => answer(api.GET('/activity/running')) });

const providers: Readonly<Record<string, string>> = {
  postmark: 'Postmark',
  ses: 'Amazon SES',
  smtp: 'The SMTP server',
  sandbox: 'The mail sandbox',
};

/** Says on every page of a project that its mail waits for the provider, and when it is tried again; `isAsked` where the page asks itself. */
export function HoldBanner({ project, isAsked }: { project: string; isAsked: boolean }) {
  const { data } = useQuery({ ...runningIn(project), enabled: project !== '' && !isAsked, refetchInterval: 15_000 });
  const hold = data?.hold;
  if (!hold) return null;
  const { provider, reason, until } = hold;
  return (
    <div className="mb-4" role="status">
      <Note tone="warn">
        <strong>Sending is on hold.</strong> {providers[provider] ?? provider} is not accepting mail ({reason}): trying
        again at {clockText(Date.parse(until))}. Nothing is lost; emails wait and are sent once.
      </Note>
    </div>
  );
}
