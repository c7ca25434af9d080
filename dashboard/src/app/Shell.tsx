import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { ChevronsUpDown, LogOut, Menu as MenuIcon, Plus } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { selectProject } from '../api/client.ts';
import { reachable } from '../api/signals.ts';
import { Button } from '../ui/Button.tsx';
import { Note } from '../ui/States.tsx';
import { places } from './places.ts';
import { myProjects, whoAmI } from './session.ts';
import { ThemeChoice } from './ThemeChoice.tsx';

/** What surrounds every page of a project: where one is, where one can go, and whether the service is there. */
export function Shell() {
  const { project = '' } = useParams({ strict: false });
  const isReachable = useSyncExternalStore(reachable.subscribe, reachable.get);
  const { pathname } = useRouterState({ select: (state) => state.location });
  const [isOpen, setOpen] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has been opened
  useEffect(() => setOpen(false), [pathname]);
  return (
    <div className="shell" data-open={isOpen || undefined}>
      <a className="skip" href="#content">
        Skip to the page
      </a>
      <aside>
        <div className="brand">
          <Link className="home-link" to="/app/$project" params={{ project }}>
            <img src="/icon.svg" alt="" width="28" height="28" /> Posthorn
          </Link>
          <Button
            look="plain"
            size="small"
            aria-expanded={isOpen}
            aria-controls="places"
            aria-label="Menu"
            onClick={() => setOpen(!isOpen)}
          >
            <MenuIcon aria-hidden />
          </Button>
        </div>
        <div className="side" id="places">
          <ProjectSwitch current={project} />
          <nav aria-label="Pages">
            {places.map(({ title, pages }) => (
              <section key={title} aria-label={title}>
                <h2>{title}</h2>
                <ul>
                  {pages.map(({ name, to, icon: Icon }) => (
                    <li key={to}>
                      <Link
                        to={to}
                        params={{ project }}
                        activeOptions={{ exact: to === '/app/$project', includeSearch: false }}
                        activeProps={{ 'aria-current': 'page' }}
                      >
                        <Icon aria-hidden /> {name}
                      </Link>
                    </li>
                  ))}
                </ul>
              </section>
            ))}
          </nav>
          <Account />
        </div>
      </aside>
      <main id="content" tabIndex={-1}>
        {isReachable ? null : (
          <Note tone="warn">
            The service does not answer. What you typed stays here; this page goes on by itself as soon as it is back.
          </Note>
        )}
        <Outlet />
      </main>
    </div>
  );
}

function ProjectSwitch({ current }: { current: string }) {
  const { data: projects = [] } = useQuery(myProjects);
  const navigate = useNavigate();
  const name = projects.find(({ id }) => id === current)?.name ?? 'Project';
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <button type="button" className="button switch" aria-label={`Project: ${name}. Change project`}>
          <span>{name}</span> <ChevronsUpDown aria-hidden />
        </button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="start">
          <DropdownMenu.RadioGroup
            value={current}
            onValueChange={(project) => {
              selectProject(project);
              void navigate({ to: '/app/$project', params: { project } });
            }}
          >
            {projects.map(({ id, name: each }) => (
              <DropdownMenu.RadioItem key={id} value={id}>
                {each}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          <DropdownMenu.Separator />
          <DropdownMenu.Item onSelect={() => void navigate({ to: '/new-project' })}>
            <Plus aria-hidden size="1em" /> New project
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Account() {
  const { data: user } = useQuery(whoAmI);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const signOut = async () => {
    await fetch('/auth/logout');
    queries.clear();
    await navigate({ to: '/auth/login' });
  };
  return (
    <footer>
      <p className="break">{user?.email}</p>
      <ThemeChoice />
      <Button size="small" look="plain" onClick={() => void signOut()}>
        <LogOut aria-hidden /> Sign out
      </Button>
    </footer>
  );
}
