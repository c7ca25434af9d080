import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { CircleCheck, CircleDashed } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Page.tsx';
import { domainsOf } from '../domains/domain.ts';
import { type NewKey, SendFirst } from './first/SendFirst.tsx';
import type { Overview } from './overview.ts';

/** The way to a first email, each step ticking itself off; gone once all are done, but never with a key that is still shown. */
export function FirstSteps({ project, overview: { setup: state, hasSent } }: { project: string; overview: Overview }) {
  const [newKey, setNewKey] = useState<NewKey | null>(null);
  const domains = useQuery({
    ...domainsOf(project),
    enabled: state.hasVerifiedDomain && (!hasSent || newKey !== null),
  });
  const isDone = state.hasVerifiedDomain && state.contactCount > 0 && hasSent;
  if (isDone && newKey === null) return null;
  const domain = domains.data?.find(({ verified, approved }) => verified && approved)?.domain;
  return (
    <Card title="Get started">
      <div className="stack">
        <ol className="stack">
          <Step
            isDone={state.hasVerifiedDomain}
            name="Verify your sending domain"
            to="/app/$project/domains"
            project={project}
          >
            <p className="muted">Add the domain and copy its records to your DNS. We check them every five minutes.</p>
          </Step>
          <Step isDone={hasSent} name="Send your first email" project={project}>
            {domain !== undefined && (!hasSent || newKey !== null) ? (
              <SendFirst project={project} domain={domain} newKey={newKey} onKey={setNewKey} />
            ) : hasSent ? null : (
              <p className="muted">By API as soon as a domain is verified, or as a campaign.</p>
            )}
          </Step>
          <Step
            isDone={state.contactCount > 0}
            name="Add your first contact"
            to="/app/$project/contacts"
            project={project}
          >
            <p className="muted">Import a CSV file, or track an event.</p>
          </Step>
          <Step
            isDone={state.publicKeyMode === 'hardened'}
            name="Harden the public key"
            to="/app/$project/settings"
            search={{ tab: 'keys' }}
            project={project}
          >
            {state.publicKeyMode === 'hardened' ? null : (
              <p className="muted">
                Recommended before you use it in a website or an app: visitors then can’t use up your servers’ requests.
              </p>
            )}
          </Step>
        </ol>
        {isDone ? (
          <div>
            <Button onClick={() => setNewKey(null)}>I have copied the key</Button>
          </div>
        ) : null}
      </div>
    </Card>
  );
}

function Step({
  isDone,
  name,
  to,
  search,
  project,
  children,
}: {
  isDone: boolean;
  name: string;
  to?: Extract<LinkProps['to'], `/app/$project${string}`>;
  search?: { tab: string };
  project: string;
  children: ReactNode;
}) {
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)] gap-2">
      {isDone ? <CircleCheck aria-hidden className="text-good" /> : <CircleDashed aria-hidden />}
      <div className="stack min-w-0 gap-1">
        {isDone ? (
          <span>
            {name} <span className="sr-only">(done)</span>
          </span>
        ) : to ? (
          <Link to={to} params={{ project }} {...(search ? { search } : {})}>
            {name}
          </Link>
        ) : (
          <span className="font-medium">{name}</span>
        )}
        {children}
      </div>
    </li>
  );
}
