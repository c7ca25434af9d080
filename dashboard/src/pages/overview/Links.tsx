import { BookOpen, Inbox, Workflow } from 'lucide-react';
import { buttonClass } from '../../ui/Button.tsx';
import type { Overview } from './overview.ts';

/** Links to the other interfaces of this deployment, each in a new window. */
export function Links({ links }: { links: Overview['setup']['links'] | undefined }) {
  const all = [
    { name: 'Sandbox inbox', href: links?.inbox, icon: Inbox },
    { name: 'Docs', href: '/docs', icon: BookOpen },
    { name: 'Temporal Web UI', href: links?.temporal, icon: Workflow },
  ];
  return (
    <>
      {all.map(({ name, href, icon: Icon }) =>
        href ? (
          <a key={name} href={href} target="_blank" rel="noreferrer" className={buttonClass('plain')}>
            <Icon aria-hidden /> {name}
          </a>
        ) : null,
      )}
    </>
  );
}
