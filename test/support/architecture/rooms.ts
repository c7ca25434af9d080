/**
 * The subjects of the service, lowest first: a subject may use what stands before it, in types too, and nothing that stands after it.
 * `docs/architecture.md` says what each is about.
 */
export const order = [
  'lib',
  'store',
  'http',
  'accounts',
  'projects',
  'billing',
  'domains',
  'contacts',
  'segments',
  'imports',
  'templates',
  'mail',
  'campaigns',
  'launches',
  'feedback',
  'automations',
  'insight',
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
  | 'tools'
  | 'test'
  | 'bench';

const beside = [
  'temporal',
  'workflows',
  'activities',
  'migrations',
  'dashboard',
  'packages',
  'tools',
  'test',
  'bench',
] as const;

/** The place of a file, or `undefined` for a file that stands nowhere. */
export function placeOf(path: string): Place | undefined {
  if (path === 'temporal/commands.ts') return 'commands';
  const [top, subject] = path.split('/');
  if (top !== 'src') return beside.find((folder) => folder === top);
  return order.find((name) => name === subject);
}

/** The folder of the package that a file belongs to, such as `packages/renderer/` or `tools/drill/`; `undefined` outside of packages. */
export function packageFolder(path: string): string | undefined {
  return /^(packages|tools)\/[^/]+\//.exec(path)?.[0];
}

// Packages that help to run and try the service, and are no part of it.
const tools = ['drill', 'local-stack', 'mail-sandbox'];

/** The file that stands behind the name of one of our packages. */
export function packageEntry(specifier: string): string | undefined {
  const [, name, part = 'index'] = /^@fernpost\/([\w-]+)(?:\/([\w-]+))?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  return `${tools.includes(name) ? 'tools' : 'packages'}/${name}/src/${part}.ts`;
}

/** Whether the place is a subject of the service. */
export function isSubject(place: Place | undefined): place is Subject {
  return order.some((subject) => subject === place);
}

/** Whether the first subject stands above the second. */
export function standsAbove(one: Subject, other: Subject): boolean {
  return order.indexOf(one) > order.indexOf(other);
}

const isRoutes = /\/([^/]+-)?routes\.ts$/;

/** Whether the file is a table of routes, which `main` alone puts together. */
export function isRouteTable(path: string): boolean {
  const place = placeOf(path);
  return isSubject(place) && place !== 'main' && place !== 'http' && isRoutes.test(path);
}

// Who decides on a request's caller: the HTTP kit asks it before any route does.
const accessControl = /^src\/(projects\/access\/|accounts\/sign-in\.ts$)/;

// What stands in a folder of its own there, such as the guard of outgoing requests, is used by anybody.
const httpKit = /^src\/http\/[^/]+\.ts$/;

/** Whether the file belongs to the kit with which routes are written. */
export function isHttpKit(path: string): boolean {
  return httpKit.test(path);
}

/** Whether the file may use the HTTP kit at run time: route tables, and what decides on callers. */
export function speaksHttp(path: string): boolean {
  return isRouteTable(path) || accessControl.test(path) || placeOf(path) === 'http' || placeOf(path) === 'main';
}

/** What the places beside the subjects may import at run time; `subjects` stands for all but `http` and `main`. */
export const mayImport: Partial<Record<Place, readonly (Place | 'subjects')[]>> = {
  commands: ['lib'],
  temporal: ['lib', 'commands', 'temporal'],
  migrations: ['lib', 'store', 'migrations'],
  workflows: ['lib', 'commands', 'workflows'],
  activities: ['subjects', 'commands', 'activities'],
  dashboard: ['dashboard'],
};

/** What subjects may import of the places beside them at run time. */
export const subjectsMayImport: Partial<Record<Subject, readonly Place[]>> = {
  lib: [],
  store: ['commands', 'migrations'],
  http: ['commands'],
  main: ['commands', 'temporal', 'migrations', 'activities', 'workflows'],
};

/** Packages that only some files may import at run time. */
export const keptPackages: readonly { packages: RegExp; only: RegExp }[] = [
  {
    packages: /^(koa|koa-.+|@koa\/.+)$/,
    only: /^(src\/http\/|tools\/mail-sandbox\/|src\/.*([^/]+-)?routes\.ts$|test\/|bench\/)/,
  },
  { packages: /^postmark$/, only: /^(src\/domains\/providers\/|test\/|tools\/mail-sandbox\/test\/)/ },
  {
    packages: /^@temporalio\/client$/,
    only: /^(src\/store\/outbox\/|src\/main\/|temporal\/(connection|setup)\.ts$|test\/support\/|bench\/)/,
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
