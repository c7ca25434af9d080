import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';
import { loaded } from '../../api/load.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { myProjects } from '../../app/session.ts';
import { Page } from '../../ui/Page.tsx';
import { Empty, Loading, Shown } from '../../ui/States.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { Billing } from './Billing.tsx';
import { Keys } from './Keys.tsx';
import { ProjectForm } from './ProjectForm.tsx';
import { Team } from './team/Team.tsx';
import { Uploads } from './Uploads.tsx';

// Tabs that few people open are loaded when they are.
const Endpoints = lazy(() =>
  loaded(() => import('../webhooks/Endpoints.tsx')).then((part) => ({ default: part.Endpoints })),
);
const AuditLog = lazy(() => loaded(() => import('./audit/AuditLog.tsx')).then((part) => ({ default: part.AuditLog })));
const Smtp = lazy(() => loaded(() => import('./Smtp.tsx')).then((part) => ({ default: part.Smtp })));
const lazily = (content: ReactNode) => <Suspense fallback={<Loading />}>{content}</Suspense>;

/** Settings of the project; the tab is part of the address. */
export function Settings() {
  const id = useProjectId();
  const projects = useQuery(myProjects);
  const [{ tab }, change] = useFilters();
  return (
    <Page title="Settings">
      <Shown query={projects}>
        {(all) => {
          const project = all.find((each) => each.id === id);
          if (project === undefined)
            return (
              <Empty title="You’re not a member of this project">
                Choose another project at the top of the sidebar.
              </Empty>
            );
          const tabs = [
            { key: 'project', name: 'Project', content: <ProjectForm key={project.id} project={project} /> },
            { key: 'keys', name: 'API keys', content: <Keys project={project} /> },
            { key: 'webhooks', name: 'Webhooks', content: lazily(<Endpoints />) },
            { key: 'smtp', name: 'SMTP', content: lazily(<Smtp project={project} />) },
            { key: 'team', name: 'Team', content: <Team project={project} /> },
            { key: 'billing', name: 'Billing', content: <Billing project={project} /> },
            { key: 'uploads', name: 'Images', content: <Uploads /> },
            { key: 'log', name: 'Audit log', content: lazily(<AuditLog key={project.id} project={project} />) },
          ];
          const shown = tabs.find(({ key }) => key === tab)?.key ?? 'project';
          return <Tabs label="Settings" value={shown} tabs={tabs} onChange={(key) => change({ tab: key })} />;
        }}
      </Shown>
    </Page>
  );
}
