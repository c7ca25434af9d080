import { useQuery } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { useFilters, useProjectId } from '../../app/address.ts';
import { myProjects } from '../../app/session.ts';
import { Page } from '../../ui/Page.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { Billing } from './Billing.tsx';
import { Keys } from './Keys.tsx';
import { ProjectForm } from './ProjectForm.tsx';
import { Team } from './Team.tsx';
import { Uploads } from './Uploads.tsx';

const tabs = [
  ['project', 'Project'],
  ['keys', 'API keys'],
  ['team', 'Team'],
  ['billing', 'Billing'],
  ['uploads', 'Uploads'],
] as const;

/** Settings of the project; the tab is part of the address. */
export function Settings() {
  const id = useProjectId();
  const projects = useQuery(myProjects);
  const [{ tab }, change] = useFilters();
  const shown = tabs.find(([key]) => key === tab)?.[0] ?? 'project';
  return (
    <Page title="Settings">
      <Shown query={projects}>
        {(all) => {
          const project = all.find((each) => each.id === id);
          if (project === undefined)
            return (
              <Empty title="You are not a member of this project">Choose another one at the top of the menu.</Empty>
            );
          return (
            <Tabs.Root className="tabs" value={shown} onValueChange={(value) => change({ tab: value })}>
              <Tabs.List aria-label="Settings">
                {tabs.map(([key, name]) => (
                  <Tabs.Trigger key={key} value={key}>
                    {name}
                  </Tabs.Trigger>
                ))}
              </Tabs.List>
              <Tabs.Content value="project">
                <ProjectForm key={project.id} project={project} />
              </Tabs.Content>
              <Tabs.Content value="keys">
                <Keys project={project} />
              </Tabs.Content>
              <Tabs.Content value="team">
                <Team project={project} />
              </Tabs.Content>
              <Tabs.Content value="billing">
                <Billing project={project} />
              </Tabs.Content>
              <Tabs.Content value="uploads">
                <Uploads />
              </Tabs.Content>
            </Tabs.Root>
          );
        }}
      </Shown>
    </Page>
  );
}
