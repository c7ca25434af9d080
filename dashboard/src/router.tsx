import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiError, selectProject } from './api/client.ts';
import { loaded } from './api/load.ts';
import { NotFound, RouteProblem } from './app/RouteProblem.tsx';
import { Shell } from './app/Shell.tsx';
import { lastProject, myProjects, rememberProject, whoAmI } from './app/session.ts';
import { Loading } from './ui/States.tsx';

/** Filters and places of a list live in the address as plain texts. */
type Search = Record<string, string | undefined>;
const texts = (search: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(search).flatMap(([key, value]) =>
      value === undefined || value === '' ? [] : [[key, String(value)]],
    ),
  );

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: RouteProblem,
  validateSearch: texts,
});

/** A page is loaded when it is opened; `name` is what its file exports. */
type Load<Name extends string> = () => Promise<Record<Name, (props: object) => ReactNode>>;

const auth = <const Path extends string, const Name extends string>(path: Path, load: Load<Name>, name: Name) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(() => loaded(load), name) });

const authRoutes = [
  auth('/auth/login', () => import('./pages/auth/Login.tsx'), 'Login'),
  auth('/auth/signup', () => import('./pages/auth/SignUp.tsx'), 'SignUp'),
  auth('/auth/forgot-password', () => import('./pages/auth/Reset.tsx'), 'RequestReset'),
  auth('/auth/reset-password', () => import('./pages/auth/Reset.tsx'), 'ResetPassword'),
  auth('/auth/invitation', () => import('./pages/auth/Invitation.tsx'), 'Invitation'),
  auth('/auth/verify-email', () => import('./pages/auth/VerifyEmail.tsx'), 'VerifyEmail'),
] as const;

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/app' });
  },
});

/** Everything behind the sign-in. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ context, location }) => {
    const user = await context.queries.ensureQueryData(whoAmI).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'EMAIL_VERIFICATION_REQUIRED')
        throw redirect({ to: '/auth/verify-email' });
      throw error;
    });
    if (user === null) throw redirect({ to: '/auth/login', search: { next: location.href } });
    void context.queries.prefetchQuery(myProjects);
    return { user };
  },
  errorComponent: RouteProblem,
});

const choose = createRoute({
  getParentRoute: () => inside,
  path: '/app',
  beforeLoad: async ({ context }) => {
    const projects = await context.queries.ensureQueryData(myProjects);
    const known = projects.find(({ id }) => id === lastProject()) ?? projects[0];
    if (known) throw redirect({ to: '/app/$project', params: { project: known.id } });
  },
  component: lazyRouteComponent(() => import('./pages/projects/FirstProject.tsx'), 'FirstProject'),
});

const another = createRoute({
  getParentRoute: () => inside,
  path: '/new-project',
  component: lazyRouteComponent(() => import('./pages/projects/FirstProject.tsx'), 'FirstProject'),
});

// Stripe leads back to /settings?tab=billing without naming the project.
const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  beforeLoad: ({ search }) => {
    const project = lastProject();
    if (project === null) throw redirect({ to: '/app' });
    throw redirect({ to: '/app/$project/settings', params: { project }, search });
  },
});

/** Everything of one project; its address names it, so that a link shows the same to everybody. */
const project = createRoute({
  getParentRoute: () => inside,
  path: '/app/$project',
  beforeLoad: ({ params }) => {
    selectProject(params.project);
    rememberProject(params.project);
  },
  component: Shell,
});

const page = <const Path extends string, const Name extends string>(path: Path, load: Load<Name>, name: Name) =>
  createRoute({
    getParentRoute: () => project,
    path,
    component: lazyRouteComponent(() => loaded(load), name),
    errorComponent: RouteProblem,
  });

const pages = [
  page('/', () => import('./pages/overview/Overview.tsx'), 'Overview'),
  page('/contacts', () => import('./pages/contacts/Contacts.tsx'), 'Contacts'),
  page('/contact-fields', () => import('./pages/contacts/Fields.tsx'), 'Fields'),
  page('/contact-jobs', () => import('./pages/contacts/Jobs.tsx'), 'Jobs'),
  page('/contacts/$contact', () => import('./pages/contacts/ContactPage.tsx'), 'ContactPage'),
  page('/erasures', () => import('./pages/contacts/erase/Erasures.tsx'), 'Erasures'),
  page('/erasures/$erasure', () => import('./pages/contacts/erase/ErasurePage.tsx'), 'ErasurePage'),
  page('/segments', () => import('./pages/segments/Segments.tsx'), 'Segments'),
  page('/segments/new', () => import('./pages/segments/SegmentEditor.tsx'), 'NewSegment'),
  page('/segments/$segment', () => import('./pages/segments/SegmentPage.tsx'), 'SegmentPage'),
  page('/segments/$segment/edit', () => import('./pages/segments/SegmentEditor.tsx'), 'SegmentEditor'),
  page('/deliverability', () => import('./pages/deliverability/Deliverability.tsx'), 'Deliverability'),
  page('/suppressions', () => import('./pages/suppressions/Suppressions.tsx'), 'Suppressions'),
  page('/activity', () => import('./pages/activity/Activity.tsx'), 'Activity'),
  page('/events', () => import('./pages/events/Events.tsx'), 'Events'),
  page('/analytics', () => import('./pages/analytics/Analytics.tsx'), 'Analytics'),
  page('/emails', () => import('./pages/emails/Emails.tsx'), 'Emails'),
  page('/why/$permalink', () => import('./pages/explain/WhyPage.tsx'), 'WhyPage'),
  page('/emails/$email', () => import('./pages/emails/EmailPage.tsx'), 'EmailPage'),
  page('/templates', () => import('./pages/templates/Templates.tsx'), 'Templates'),
  page('/templates/$template', () => import('./pages/templates/TemplatePage.tsx'), 'TemplatePage'),
  page('/campaigns', () => import('./pages/campaigns/Campaigns.tsx'), 'Campaigns'),
  page('/campaigns/$campaign', () => import('./pages/campaigns/CampaignPage.tsx'), 'CampaignPage'),
  page('/workflows', () => import('./pages/workflows/Workflows.tsx'), 'Workflows'),
  page('/workflows/$workflow', () => import('./pages/workflows/WorkflowPage.tsx'), 'WorkflowPage'),
  page('/workflows/$workflow/executions', () => import('./pages/workflows/executions/Executions.tsx'), 'Runs'),
  page(
    '/workflows/$workflow/executions/$execution',
    () => import('./pages/workflows/executions/ExecutionPage.tsx'),
    'ExecutionPage',
  ),
  page('/domains', () => import('./pages/domains/Domains.tsx'), 'Domains'),
  page('/webhooks/$endpoint', () => import('./pages/webhooks/EndpointPage.tsx'), 'EndpointPage'),
  page('/account', () => import('./pages/account/AccountPage.tsx'), 'AccountPage'),
  page('/settings', () => import('./pages/settings/Settings.tsx'), 'Settings'),
] as const;

const routeTree = root.addChildren([
  home,
  ...authRoutes,
  inside.addChildren([choose, another, settings, project.addChildren(pages)]),
]);

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** The addresses of the dashboard. */
export const router = createRouter({
  routeTree,
  context: { queries: undefined as unknown as QueryClient },
  defaultPendingComponent: Loading,
  defaultPreload: 'intent',
  scrollRestoration: true,
});
