import { useQuery } from '@tanstack/react-query';
import { BookOpen, Inbox, Workflow } from 'lucide-react';
import { buttonClass } from '../../ui/Button.tsx';
import { setupOf } from './setup.ts';

/** Links to the other interfaces of this deployment, each in a new window. */
export function Links({ project }: { project: string }) {
  const { data } = useQuery(setupOf(project));
  const links = [
    { name: 'Sandbox inbox', href: data?.data.links.inbox, icon: Inbox },
    { name: 'Docs', href: '/docs', icon: BookOpen },
    { name: 'Temporal Web UI', href: data?.data.links.temporal, icon: Workflow },
  ];
  return (
    <>
      {links.map(({ name, href, icon: Icon }) =>
        href ? (
          <a key={name} href={href} target="_blank" rel="noreferrer" className={buttonClass('plain')}>
            <Icon aria-hidden /> {name}
          </a>
        ) : null,
      )}
    </>
  );
}
