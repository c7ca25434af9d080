/**
 * The subjects of the service in their areas, lowest first: a subject may use what stands before it, in types too, and nothing
 * that stands after it. `docs/architecture.md` says what each is about.
 */
export const order = [
  'core/lib',
  'core/config',
  'core/database',
  'core/outbox',
  'core/http',
  'platform/verification',
  'platform/system-mail',
  'platform/accounts',
  'platform/audit',
  'platform/projects',
  'platform/invitations',
  'platform/access',
  'platform/billing',
  'platform/domains',
  'platform/wipes',
  'audience/conditions',
  'audience/usage',
  'audience/erased',
  'audience/contacts',
  'audience/events',
  'audience/segments',
  'audience/lists',
  'audience/suppressions',
  'audience/jobs',
  'content/uploads',
  'content/brand',
  'content/blocks',
  'content/templates',
  'sending/providers',
  'sending/ledger',
  'sending/engine',
  'sending/emails',
  'sending/suppressed',
  'sending/system-mail',
  'sending/transactional',
  'sending/smtp-in',
  'sending/campaigns',
  'sending/reputation',
  'sending/reports',
  'sending/recipients',
  'automations',
  'insight/setup',
  'insight/activity',
  'insight/analytics',
  'insight/webhooks',
  'insight/explain',
  'insight/erasures',
  'insight/mcp',
  'main',
] as const;
export type Subject = (typeof order)[number];

/** Where a file stands: in a subject of the service, or in one of the folders beside it. */
export type Place =
  | Subject
  | 'commands'
  | 'temporal'
  | 'workflows'
  | 'activities'
  | 'migrations'
  | 'dashboard'
  | 'packages'
  | 'test'
  | 'bench';

const beside = ['temporal', 'workflows', 'activities', 'migrations', 'dashboard', 'packages', 'test', 'bench'] as const;

/** The place of a file, or `undefined` for a file that stands nowhere. */
export function placeOf(path: string): Place | undefined {
  if (path === 'temporal/commands.ts') return 'commands';
  const [top, area = '', name = ''] = path.split('/');
  if (top !== 'src') return beside.find((folder) => folder === top);
  return order.find((subject) => subject === area || subject === `${area}/${name}`);
}

/** The folder of the package that a file belongs to, such as `packages/renderer/`; `undefined` outside of packages. */
export function packageFolder(path: string): string | undefined {
  return /^packages\/[^/]+\//.exec(path)?.[0];
}

/** The file that stands behind the name of one of our packages. */
export function packageEntry(specifier: string): string | undefined {
  const [, name, part = 'index'] = /^@fernpost\/([\w-]+)(?:\/([\w-]+))?$/.exec(specifier) ?? [];
  return name === undefined ? undefined : `packages/${name}/src/${part}.ts`;
}

/** Whether the place is a subject of the service. */
export function isSubject(place: Place | undefined): place is Subject {
  return order.some((subject) => subject === place);
}

/** Whether the first subject stands above the second. */
export function standsAbove(one: Subject, other: Subject): boolean {
  return order.indexOf(one) > order.indexOf(other);
}

/** The core is a kit whose files are used one by one; of every other subject others see `index.ts` alone. */
export function isOpen(subject: Subject): boolean {
  return subject.startsWith('core/');
}

const isRoutes = /\/([^/]+-)?routes\.ts$/;

/** Whether the file is a table of routes, which `main` alone puts together. */
export function isRouteTable(path: string): boolean {
  const place = placeOf(path);
  return isSubject(place) && place !== 'main' && !place.startsWith('core/') && isRoutes.test(path);
}

// Who decides on a request's caller: the HTTP kit asks it before any route does.
const accessControl = /^src\/platform\/(access\/|accounts\/sign-in\.ts$)/;

/** Whether the file may use the HTTP kit at run time: route tables, and what decides on callers. */
export function speaksHttp(path: string): boolean {
  return isRouteTable(path) || accessControl.test(path) || placeOf(path) === 'core/http' || placeOf(path) === 'main';
}

/** What the places beside the subjects may import at run time; `subjects` stands for all but `core/http` and `main`. */
export const mayImport: Partial<Record<Place, readonly (Place | 'subjects')[]>> = {
  commands: ['core/lib'],
  temporal: ['core/lib', 'commands', 'temporal'],
  migrations: ['core/lib', 'core/database', 'migrations'],
  workflows: ['core/lib', 'commands', 'workflows'],
  activities: ['subjects', 'commands', 'activities'],
  dashboard: ['dashboard'],
};

/** What subjects may import of the places beside them at run time. */
export const subjectsMayImport: Partial<Record<Subject, readonly Place[]>> = {
  'core/lib': [],
  'core/config': [],
  'core/database': ['migrations'],
  'core/http': ['commands'],
  'core/outbox': ['commands'],
  main: ['commands', 'temporal', 'migrations', 'activities', 'workflows'],
};

/** Packages that only some files may import at run time. */
export const keptPackages: readonly { packages: RegExp; only: RegExp }[] = [
  {
    packages: /^(koa|koa-.+|@koa\/.+)$/,
    only: /^(src\/core\/http\/|packages\/mail-sandbox\/|src\/(platform|audience|content|sending|automations|insight)\/.*([^/]+-)?routes\.ts$|test\/|bench\/)/,
  },
  { packages: /^postmark$/, only: /^packages\/(mail-providers\/|mail-sandbox\/test\/)/ },
  {
    packages: /^@temporalio\/client$/,
    only: /^(src\/core\/outbox\/|src\/main\/|temporal\/(connection|setup)\.ts$|test\/support\/|bench\/)/,
  },
];

/** The only packages a place may import at run time, where that is not any. */
export const onlyPackages: Partial<Record<Place, readonly string[]>> = {
  workflows: ['@temporalio/workflow'],
  commands: ['@temporalio/common'],
  // They compute the rules and the layout of a workflow and what differs between two texts, and touch no page.
  dashboard: ['@dagrejs/dagre', '@fernpost/earlier-name', '@fernpost/workflow-graph', 'diff'],
};

/** Node's own modules that compute and touch nothing outside: all that `src/lib` may use. */
export const pureModules = [
  'node:buffer',
  'node:crypto',
  'node:querystring',
  'node:stream',
  'node:url',
  'node:util',
  'node:zlib',
];
