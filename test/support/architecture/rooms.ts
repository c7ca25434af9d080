/** The rooms of the house. Every file stands in one of them. */
export type Room =
  | 'lib'
  | 'db'
  | 'net'
  | 'commands'
  | 'outbox'
  | 'subject'
  | 'http'
  | 'main'
  | 'config'
  | 'sandbox'
  | 'temporal'
  | 'workflows'
  | 'activities'
  | 'migrations'
  | 'dashboard'
  | 'test'
  | 'bench';

const production: readonly Room[] = [
  'lib',
  'db',
  'net',
  'commands',
  'outbox',
  'subject',
  'http',
  'main',
  'config',
  'sandbox',
  'temporal',
  'workflows',
  'activities',
  'migrations',
];

/** Which rooms a room may import from at run time. What is not named here is refused. */
export const mayImport: Record<Room, readonly Room[]> = {
  lib: ['lib'],
  db: ['lib', 'db', 'migrations'],
  migrations: ['lib', 'db', 'migrations'],
  net: ['lib', 'net'],
  commands: ['lib'],
  outbox: ['lib', 'db', 'commands', 'outbox'],
  subject: ['lib', 'db', 'commands', 'outbox', 'subject'],
  http: ['lib', 'db', 'commands', 'outbox', 'subject', 'http'],
  config: ['lib', 'config'],
  sandbox: ['lib', 'net', 'sandbox'],
  temporal: ['lib', 'commands', 'temporal'],
  workflows: ['lib', 'commands', 'workflows'],
  activities: ['lib', 'db', 'commands', 'outbox', 'subject', 'activities'],
  main: production,
  dashboard: ['dashboard'],
  test: [...production, 'dashboard', 'test'],
  bench: [...production, 'test', 'bench'],
};

/** Packages that only some files may import at run time. */
export const keptPackages: readonly { packages: RegExp; only: RegExp }[] = [
  {
    packages: /^(koa|koa-.+|@koa\/.+)$/,
    only: /^(src\/http\/|src\/sandbox\/|src\/.+\/([^/]+-)?routes\.ts$|test\/|bench\/)/,
  },
  { packages: /^postmark$/, only: /^(src\/delivery\/|test\/|bench\/)/ },
  {
    packages: /^@temporalio\/client$/,
    only: /^(src\/outbox\/|src\/main\/|temporal\/(connection|setup)\.ts$|test\/support\/|bench\/)/,
  },
];

/** The only packages a room may import at run time, where that is not any. */
export const onlyPackages: Partial<Record<Room, readonly string[]>> = {
  workflows: ['@temporalio/workflow'],
  commands: ['@temporalio/common'],
  dashboard: [],
};

/** Node's own modules that compute and touch nothing outside: all that `src/core/lib` may use. */
export const pureModules = ['node:buffer', 'node:crypto', 'node:querystring', 'node:url', 'node:util', 'node:zlib'];

const isRoutes = /^src\/.+\/([^/]+-)?routes\.ts$/;

/** The room of a file, or `undefined` for a file that stands nowhere. A `routes.ts` counts as http. */
export function roomOf(path: string): Room | undefined {
  if (path === 'temporal/commands.ts') return 'commands';
  if (/^src\/config[^/]*\.ts$/.test(path)) return 'config';
  if (isRoutes.test(path) && !path.startsWith('src/sandbox/') && !path.startsWith('src/main/')) return 'http';
  const [top, room, file] = path.split('/');
  if (top !== 'src') return outside.find((name) => name === top);
  if (file === undefined) return undefined;
  return inside.find((name) => name === room) ?? 'subject';
}

const outside = ['temporal', 'workflows', 'activities', 'migrations', 'dashboard', 'test', 'bench'] as const;
const inside = ['lib', 'db', 'net', 'outbox', 'http', 'main', 'sandbox'] as const;

/** The subject of a file in a room of subjects, its routes included: `contacts` of `src/audience/contacts/service.ts`. */
export function subjectOf(path: string): string | undefined {
  const [top, room = ''] = path.split('/');
  return top === 'src' && !inside.some((name) => name === room) ? room : undefined;
}

/** Whether the file is a subject's table of routes. */
export function isRouteTable(path: string): boolean {
  return subjectOf(path) !== undefined && isRoutes.test(path);
}

/** Whether other subjects may import the file: what a subject can do, its tables, its shapes and its statements. */
export function isOpenToSubjects(path: string): boolean {
  return (
    /\/([^/]+-)?(service|entity|schema|queries)\.ts$/.test(path) || openRooms.some((room) => path.startsWith(room))
  );
}

// Ports, a language and the ledger rather than subjects: made to be used from everywhere.
const openRooms = ['src/sending/providers/', 'src/audience/conditions/', 'src/sending/ledger/'];
