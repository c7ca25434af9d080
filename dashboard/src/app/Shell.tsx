import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import {
  BookOpen,
  ChevronsUpDown,
  CircleUser,
  Keyboard,
  LogOut,
  Menu as MenuIcon,
  Plus,
  Search,
  Settings,
} from 'lucide-react';
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { selectProject } from '../api/client.ts';
import { loaded } from '../api/load.ts';
import { Button } from '../ui/Button.tsx';
import { Kbd } from '../ui/Kbd.tsx';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../ui/Menu.tsx';
import { useKeptFocus } from './focus.ts';
import { HoldBanner } from './HoldBanner.tsx';
import { paletteKeys } from './mod-key.ts';
import { places } from './places.ts';
import { myProjects, useSignOut, whoAmI } from './session.ts';
import { type Opened, useShortcuts } from './shortcuts.ts';
import { chooseTheme, theme, themes } from './theme.ts';

const CommandPalette = lazy(() =>
  loaded(() => import('./CommandPalette.tsx')).then((part) => ({ default: part.CommandPalette })),
);
const Shortcuts = lazy(() =>
  loaded(() => import('./ShortcutsDialog.tsx')).then((part) => ({ default: part.ShortcutsDialog })),
);

const switcher =
  'flex w-full min-w-0 cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-start hover:bg-pressed [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted';

const entry =
  'flex items-center gap-2 rounded-md px-2 py-1 text-ink no-underline hover:bg-pressed aria-[current]:bg-pressed aria-[current]:font-medium [&_svg]:size-4 [&_svg]:text-muted aria-[current]:[&_svg]:text-accent';

/** Frames every page of a project: current place and navigation. */
export function Shell() {
  const { project = '' } = useParams({ strict: false });
  const { pathname } = useRouterState({ select: (state) => state.location });
  const [isOpen, setOpen] = useState(false);
  const [opened, setOpened] = useState<Opened>(null);
  useShortcuts(project, setOpened);
  useKeptFocus();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has been opened
  useEffect(() => setOpen(false), [pathname]);
  return (
    <div className="group/shell grid min-h-dvh grid-cols-[minmax(0,1fr)] grid-rows-[auto_1fr] md:grid-cols-[14.5rem_minmax(0,1fr)] md:grid-rows-1 has-data-full:grid-cols-[minmax(0,1fr)] has-data-full:grid-rows-1">
      <a
        className="absolute -top-40 z-50 rounded-md bg-raised px-3 py-2 shadow-float focus:top-2 focus:left-2"
        href="#content"
      >
        Skip to content
      </a>
      <aside className="flex min-w-0 flex-col border-line bg-sunken group-has-data-full/shell:hidden max-md:border-b md:sticky md:top-0 md:h-dvh md:border-e">
        <div className="flex items-center justify-between px-4 py-3">
          <Link
            className="flex items-center gap-2 font-semibold text-ink no-underline"
            to="/app/$project"
            params={{ project }}
          >
            <img src="/icon.svg" alt="" width="22" height="22" /> Fernpost
          </Link>
          <span className="md:hidden">
            <Button
              variant="plain"
              size="small"
              aria-expanded={isOpen}
              aria-controls="places"
              aria-label="Menu"
              onClick={() => setOpen(!isOpen)}
            >
              <MenuIcon aria-hidden />
            </Button>
          </span>
        </div>
        <div className={`min-h-0 flex-1 flex-col gap-2 px-2 pb-2 md:flex ${isOpen ? 'flex' : 'hidden'}`} id="places">
          <ProjectSwitch current={project} />
          <SearchButton onClick={() => setOpened('palette')} />
          <Pages project={project} />
          <Account project={project} onShortcuts={() => setOpened('shortcuts')} />
        </div>
      </aside>
      <main
        id="content"
        tabIndex={-1}
        className="mx-auto w-full max-w-7xl min-w-0 px-4 py-5 outline-none md:px-8 md:py-6 has-data-full:flex has-data-full:max-w-none has-data-full:flex-col has-data-full:p-0 has-data-full:lg:h-dvh"
      >
        <HoldBanner project={project} isAsked={pathname === `/app/${project}`} />
        <Outlet />
      </main>
      <Suspense>
        {opened === 'palette' ? <CommandPalette project={project} onOpen={setOpened} /> : null}
        {opened === 'shortcuts' ? <Shortcuts onClose={() => setOpened(null)} /> : null}
      </Suspense>
    </div>
  );
}

function SearchButton({ onClick }: { onClick: () => void }) {
  return (
    <button
      type="button"
      className="mx-1 flex cursor-pointer items-center gap-2 rounded-md border border-edge bg-surface px-2 py-1 text-muted hover:text-ink"
      onClick={onClick}
    >
      <Search aria-hidden className="size-4" />
      <span className="flex-1 text-start">Search</span>
      <span aria-hidden className="flex gap-0.5">
        {paletteKeys.map((key) => (
          <Kbd key={key}>{key}</Kbd>
        ))}
      </span>
    </button>
  );
}

function Pages({ project }: { project: string }) {
  return (
    <nav aria-label="Pages" className="min-h-0 flex-1 overflow-y-auto">
      {places.map(({ title, pages }) => (
        <section key={title} aria-label={title} className="mt-3 first:mt-1">
          <h2 className="px-2 pb-1 text-xs font-medium tracking-normal text-muted">{title}</h2>
          <ul>
            {pages.map(({ name, to, icon: Icon }) => (
              <li key={to}>
                <Link
                  className={entry}
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
      <a className={`${entry} mt-3`} href="/docs" target="_blank" rel="noreferrer">
        <BookOpen aria-hidden /> Documentation
      </a>
    </nav>
  );
}

function ProjectSwitch({ current }: { current: string }) {
  const { data: projects = [] } = useQuery(myProjects);
  const navigate = useNavigate();
  const name = projects.find(({ id }) => id === current)?.name ?? 'Project';
  return (
    <Menu
      trigger={
        <button type="button" className={switcher} aria-label={`Project: ${name}. Switch project`}>
          <span
            aria-hidden
            data-initial={[...name][0]?.toUpperCase()}
            className="flex size-5 shrink-0 items-center justify-center rounded bg-accent-solid text-xs font-semibold text-page before:content-[attr(data-initial)]"
          />
          <span className="min-w-0 flex-1 truncate font-medium">{name}</span> <ChevronsUpDown aria-hidden />
        </button>
      }
    >
      <MenuLabel>Projects</MenuLabel>
      <MenuChoice
        label="Projects"
        value={current}
        choices={projects.map(({ id, name: each }) => [id, each] as const)}
        onChange={(project) => {
          selectProject(project);
          void navigate({ to: '/app/$project', params: { project } });
        }}
      />
      <MenuSeparator />
      <MenuItem onSelect={() => void navigate({ to: '/new-project' })}>
        <Plus aria-hidden /> New project
      </MenuItem>
    </Menu>
  );
}

function Account({ project, onShortcuts }: { project: string; onShortcuts: () => void }) {
  const { data: user } = useQuery(whoAmI);
  const chosen = useSyncExternalStore(theme.subscribe, theme.get);
  const signOut = useSignOut();
  const navigate = useNavigate();
  return (
    <div className="border-t border-line pt-2">
      <Menu
        trigger={
          <button type="button" className={switcher} aria-label={`Account: ${user?.email ?? ''}`}>
            <CircleUser aria-hidden />
            <span className="min-w-0 flex-1 truncate">{user?.email}</span> <ChevronsUpDown aria-hidden />
          </button>
        }
      >
        <MenuItem onSelect={() => void navigate({ to: '/app/$project/account', params: { project } })}>
          <Settings aria-hidden /> Account settings
        </MenuItem>
        <MenuSeparator />
        <MenuLabel>Theme</MenuLabel>
        <MenuChoice label="Theme" value={chosen} choices={themes} onChange={chooseTheme} />
        <MenuSeparator />
        <MenuItem onSelect={onShortcuts}>
          <Keyboard aria-hidden /> <span className="flex-1">Keyboard shortcuts</span> <Kbd>?</Kbd>
        </MenuItem>
        <MenuItem onSelect={() => void signOut()}>
          <LogOut aria-hidden /> Sign out
        </MenuItem>
      </Menu>
    </div>
  );
}
