import * as Dialog from '@radix-ui/react-dialog';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import {
  FileText,
  FolderPlus,
  Keyboard,
  KeyRound,
  ListFilter,
  LogOut,
  type LucideIcon,
  Mail,
  Moon,
  ScrollText,
  Send,
  ShieldBan,
  Upload,
  User,
  UserPlus,
  Webhook,
  Workflow,
} from 'lucide-react';
import { useState } from 'react';
import { answer, api, selectProject } from '../api/client.ts';
import { useFocusBack } from '../ui/Dialog.tsx';
import { usePause } from '../ui/pause.ts';
import { isAddress } from '../words/sentences.ts';
import { subjectText } from '../words/subjects.ts';
import { places } from './places.ts';
import { myProjects, useSignOut } from './session.ts';
import type { Opened } from './shortcuts.ts';
import { chooseTheme, themes } from './theme.ts';

interface Entry {
  key: string;
  name: string;
  /** Said behind the name. */
  more?: string;
  icon: LucideIcon;
  run: () => void;
}

/** Everything that can be opened or done, and a search over what the project has. */
export function CommandPalette({ project, onOpen }: { project: string; onOpen: (what: Opened) => void }) {
  const [text, setText] = useState('');
  const focusBack = useFocusBack();
  const wanted = text.trim().toLowerCase();
  const matches = ({ name }: Entry) => wanted.split(/\s+/).every((word) => name.toLowerCase().includes(word));
  const groups = [
    { heading: 'Pages', entries: usePages(project).filter(matches) },
    { heading: 'Actions', entries: useActions(project, onOpen).filter(matches) },
    ...useFound(project, usePause(wanted, 150)),
  ].filter(({ entries }) => entries.length > 0);
  const close = () => onOpen(null);
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-10 bg-[rgb(0_0_0/45%)]" />
        <Dialog.Content
          aria-describedby={undefined}
          onCloseAutoFocus={focusBack}
          className="fixed top-[12dvh] left-1/2 z-10 w-[min(38rem,calc(100vw-2rem))] -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-raised shadow-float"
        >
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command label="Search and commands" shouldFilter={false} loop>
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Search contacts, campaigns, templates, or run a command"
              className="w-full border-b border-line bg-transparent px-4 py-3 text-lg outline-none placeholder:text-muted"
            />
            <Command.List className="max-h-[60dvh] overflow-y-auto p-2" label="Results">
              <Command.Empty className="px-2 py-6 text-center text-muted">No results for “{text}”</Command.Empty>
              {groups.map(({ heading, entries }) => (
                <Command.Group
                  key={heading}
                  heading={heading}
                  className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted"
                >
                  {entries.map(({ key, name, more, icon: Icon, run }) => (
                    <Command.Item
                      key={key}
                      value={key}
                      className="flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 data-[selected=true]:bg-hover"
                      onSelect={() => {
                        close();
                        run();
                      }}
                    >
                      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
                      <span className="min-w-0 flex-1 truncate" dir="auto">
                        {name}
                      </span>
                      {more ? <span className="shrink-0 text-sm text-muted">{more}</span> : null}
                    </Command.Item>
                  ))}
                </Command.Group>
              ))}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function usePages(project: string): Entry[] {
  const navigate = useNavigate();
  return places.flatMap(({ title, pages }) =>
    pages.map(({ name, to, icon }) => ({
      key: `page ${to}`,
      name,
      more: title,
      icon,
      run: () => void navigate({ to, params: { project } }),
    })),
  );
}

function useActions(project: string, onOpen: (what: Opened) => void): Entry[] {
  const navigate = useNavigate();
  const { data: projects = [] } = useQuery(myProjects);
  const signOut = useSignOut();
  const open = (path: string) => () => void navigate({ href: `/app/${project}/${path}` });
  const actions: [name: string, icon: LucideIcon, run: () => void][] = [
    ['New campaign', Send, open('campaigns/new')],
    ['New template', FileText, open('templates/new')],
    ['New segment', ListFilter, open('segments/new')],
    ['New workflow', Workflow, open('workflows?dialog=new')],
    ['New suppression rule', ShieldBan, open('suppressions?dialog=new')],
    ['Add contact', UserPlus, open('contacts?dialog=add')],
    ['Import contacts', Upload, open('contacts?dialog=import')],
    ['Create API key', KeyRound, open('settings?tab=keys&dialog=new-key')],
    ['Add webhook endpoint', Webhook, open('settings?tab=webhooks&dialog=new-endpoint')],
    ['SMTP credentials', Mail, open('settings?tab=smtp')],
    ['Audit log', ScrollText, open('settings?tab=log')],
    ['New project', FolderPlus, () => void navigate({ to: '/new-project' })],
    ...projects
      .filter(({ id }) => id !== project)
      .map(({ id, name }): [string, LucideIcon, () => void] => [
        `Switch to ${name}`,
        FolderPlus,
        () => {
          selectProject(id);
          void navigate({ to: '/app/$project', params: { project: id } });
        },
      ]),
    ...themes.map(([each, name]): [string, LucideIcon, () => void] => [
      `Theme: ${name}`,
      Moon,
      () => chooseTheme(each),
    ]),
    ['Keyboard shortcuts', Keyboard, () => onOpen('shortcuts')],
    ['Sign out', LogOut, () => void signOut()],
  ];
  return actions.map(([name, icon, run]) => ({ key: `action ${name}`, name, icon, run }));
}

const most = 5;

/** Lists what the project has of that name, by kind. */
function useFound(project: string, wanted: string): { heading: string; entries: Entry[] }[] {
  const navigate = useNavigate();
  const found = useQuery({
    queryKey: ['palette', project, wanted],
    enabled: wanted.length > 1,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const page = { params: { query: { search: wanted, pageSize: most } }, signal };
      const [contacts, campaigns, templates, workflows, segments, emails] = await Promise.all([
        answer(api.GET('/contacts', { params: { query: { search: wanted, limit: most } }, signal })),
        answer(api.GET('/campaigns', page)),
        answer(api.GET('/templates', page)),
        answer(api.GET('/workflows', page)),
        answer(api.GET('/segments', { signal })),
        emailsOf(wanted, signal),
      ]);
      const isNamed = ({ name }: { name: string }) => name.toLowerCase().includes(wanted);
      return {
        contacts: contacts.data,
        campaigns: campaigns.data,
        templates: templates.data,
        workflows: workflows.data,
        segments: segments.filter(isNamed).slice(0, most),
        emails,
      };
    },
  });
  if (wanted.length < 2 || !found.data) return [];
  const { contacts, campaigns, templates, workflows, segments, emails } = found.data;
  const entries = (
    things: readonly { id: string; name: string }[],
    icon: LucideIcon,
    run: (id: string) => unknown,
  ): Entry[] => things.map(({ id, name }) => ({ key: id, name, icon, run: () => void run(id) }));
  return [
    {
      heading: 'Contacts',
      entries: entries(
        contacts.map(({ id, email }) => ({ id, name: email })),
        User,
        (contact) => navigate({ to: '/app/$project/contacts/$contact', params: { project, contact } }),
      ),
    },
    {
      heading: 'Emails',
      entries: entries(
        emails.map(({ id, to, subject }) => ({ id, name: `${subjectText(subject)} to ${to}` })),
        Mail,
        (email) => navigate({ to: '/app/$project/emails/$email', params: { project, email } }),
      ),
    },
    {
      heading: 'Campaigns',
      entries: entries(campaigns, Send, (campaign) =>
        navigate({ to: '/app/$project/campaigns/$campaign', params: { project, campaign } }),
      ),
    },
    {
      heading: 'Templates',
      entries: entries(templates, FileText, (template) =>
        navigate({ to: '/app/$project/templates/$template', params: { project, template } }),
      ),
    },
    {
      heading: 'Workflows',
      entries: entries(workflows, Workflow, (workflow) =>
        navigate({ to: '/app/$project/workflows/$workflow', params: { project, workflow } }),
      ),
    },
    {
      heading: 'Segments',
      entries: entries(segments, ListFilter, (segment) =>
        navigate({ to: '/app/$project/segments/$segment', params: { project, segment } }),
      ),
    },
  ];
}

/** Mail is found by its id and by the whole address of its recipient. */
async function emailsOf(wanted: string, signal: AbortSignal): Promise<{ id: string; to: string; subject: string }[]> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(wanted)) {
    const { data } = await api.GET('/emails/{id}', { params: { path: { id: wanted } }, signal });
    return data ? [data] : [];
  }
  if (!isAddress(wanted)) return [];
  const { data } = await api.GET('/emails', { params: { query: { to: wanted, limit: most } }, signal });
  return data?.data ?? [];
}
