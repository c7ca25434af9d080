import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { cycles } from '../support/architecture/cycles.ts';
import { packageOf, runtimeImports, type Sources } from '../support/architecture/imports.ts';
import { functionsOf, longFunctions } from '../support/architecture/lengths.ts';
import { type Manifest, packageProblems } from '../support/architecture/packages.ts';
import { order, packageEntry, packageFolder } from '../support/architecture/rooms.ts';
import { brokenRules } from '../support/architecture/rules.ts';
import { readSources } from '../support/architecture/sources.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('the project', () => {
  const sources = readSources(root);

  test('is read whole: each folder of code is there, with the imports it is known to have', () => {
    for (const folder of [
      ...order.map((subject) => `src/${subject}/`),
      'workflows/',
      'activities/',
      'temporal/',
      'packages/renderer/',
      'tools/mail-sandbox/',
      'test/unit/',
    ]) {
      expect([...sources.keys()].filter((path) => path.startsWith(folder)).length, folder).toBeGreaterThan(0);
    }
    const imports = runtimeImports(
      'src/accounts/verification/addresses/verify.ts',
      sources.get('src/accounts/verification/addresses/verify.ts') ?? '',
    );
    expect(imports.map(({ file, specifier }) => file ?? specifier).sort()).toEqual([
      'node:dns/promises',
      'node:timers/promises',
      'src/accounts/verification/addresses/typo.ts',
      'src/lib/keyed-turns.ts',
      'tldts',
    ]);
  });

  test('keeps the direction of its imports', () => {
    expect(brokenRules(sources)).toEqual([]);
  });

  test('inserts events and settles mail in functions of the database, each called by one file, and inserts mail in one file', () => {
    const functions = readdirSync(`${root}migrations/functions`).map((file) => `migrations/functions/${file}`);
    const texts = new Map(functions.map((path) => [path, readFileSync(`${root}${path}`, 'utf8')]));
    for (const [path, text] of sources) if (/^(src|activities|packages|tools)\//.test(path)) texts.set(path, text);
    const having = (what: RegExp) => [...texts].filter(([, text]) => what.test(text)).map(([path]) => path);
    expect(having(/insert\s+into\s+events\b/i)).toEqual(['migrations/functions/record_events.sql']);
    expect(having(/\brecord_events\(/).filter((path) => !path.endsWith('.sql'))).toEqual([
      'src/store/record-events.ts',
    ]);
    expect(having(/insert\s+into\s+emails \(/i)).toEqual(['src/mail/ledger/accept.ts']);
    expect(having(/\bsettle_mail\(/).filter((path) => !path.endsWith('.sql'))).toEqual(['src/mail/ledger/settle.ts']);
    // `MailStatus` says of each what makes it end mail as FAILED.
    const fails = having(
      /update\s+emails e set\s+status = (?:'FAILED'|case[^,]*'FAILED')|status: 'FAILED', reason: \{ code|\bint, 'FAILED',/,
    );
    expect(fails).toEqual([
      'src/automations/runtime/mail-step.ts',
      'src/campaigns/audience/expansion.ts',
      'src/campaigns/delivery/completion.ts',
      'src/feedback/reports/notify.ts',
      'src/feedback/reputation/service.ts',
      'src/launches/review/expand-reviewed.ts',
    ]);
    for (const path of fails) expect(texts.get('src/mail/status.ts')).toContain(`(${path.replace('src/', '')})`);
    // Only a report of the provider can say too that a mail was sent.
    expect(having(/update\s+emails\b(?:(?!\bwhere\b)[\s\S])*?\bsent_at = /)).toEqual([
      'migrations/functions/settle_mail.sql',
      'src/feedback/reports/notify.ts',
    ]);
  });

  test('starts a process without the packages that only others need', () => {
    const loaded = (name: string) => loadedBy(`src/main/${name}.ts`, sources);
    const [api, smtp, worker] = [loaded('api'), loaded('smtp'), loaded('worker')];
    expect([api.has('koa'), smtp.has('smtp-server'), worker.has('@temporalio/worker')]).toEqual([true, true, true]);
    for (const packages of [api, smtp]) expect(packages).not.toContain('@temporalio/worker');
    for (const packages of [api, smtp, worker]) expect(packages).not.toContain('@mikro-orm/migrations');
    expect([api.has('arctic'), api.has('smtp-server')]).toEqual([false, false]);
    // The supervisor of `npm start` waits for the service, and the sandbox has no database.
    for (const packages of [loaded('start'), loaded('sandbox')]) expect(packages).not.toContain('@mikro-orm/core');
  });

  test('has no function above 80 lines', () => {
    expect(longFunctions(root, 80)).toEqual([]);
  });

  test('declares what it imports, imports what it declares, exactly, and says why', () => {
    const manifestIn = (folder: string) => JSON.parse(readFileSync(`${root}${folder}package.json`, 'utf8')) as Manifest;
    const whole = manifestIn('');
    expect(Object.keys(whole.dependencies ?? {}).length).toBeGreaterThan(10);
    const page = readFileSync(`${root}docs/dependencies.md`, 'utf8');
    const filesOf = (folder: string | undefined) =>
      new Map([...sources].filter(([path]) => packageFolder(path) === folder));
    const isOfDashboard = ([path]: [string, string]) => path.startsWith('dashboard/');
    const own = [...filesOf(undefined)];
    expect(packageProblems(whole, new Map(own.filter((file) => !isOfDashboard(file))), page)).toEqual([]);
    // Of the dashboard only these files are read, so what its pages import is not known here.
    const ofDashboard = packageProblems(manifestIn('dashboard/'), new Map(own.filter(isOfDashboard)), page);
    expect(ofDashboard.filter((problem) => problem.endsWith('not declared in package.json'))).toEqual([]);
    for (const folder of ['packages', 'tools'].flatMap((top) =>
      readdirSync(`${root}${top}`).map((name) => `${top}/${name}/`),
    )) {
      expect(filesOf(folder).size, folder).toBeGreaterThan(0);
      expect(packageProblems(manifestIn(folder), filesOf(folder), page, whole.devDependencies), folder).toEqual([]);
    }
  });
});

describe('the length of a function', () => {
  test('is counted from its first line to its last, of every kind, by the name it is known by', () => {
    const text = [
      'function first() {',
      '  return () =>',
      '    1;',
      '}',
      'const second = async () => {',
      '  await first();',
      '};',
      'const third = { method() {} };',
    ].join('\n');
    expect(functionsOf('src/a.ts', text)).toEqual([
      { name: 'first', line: 1, lines: 4 },
      { name: 'first', line: 2, lines: 2 },
      { name: 'second', line: 5, lines: 3 },
      { name: 'method', line: 8, lines: 1 },
    ]);
  });

  test('is counted in components too', () => {
    expect(functionsOf('src/A.tsx', 'function A() {\n  return <b>{[].map(() => null)}</b>;\n}')).toEqual([
      { name: 'A', line: 1, lines: 3 },
      { name: 'A', line: 2, lines: 1 },
    ]);
  });
});

/** The packages that are loaded with a file: what it imports, and what that imports, but nothing that waits for an `import()`. */
function loadedBy(entry: string, sources: Sources): Set<string> {
  const packages = new Set<string>();
  const files = new Set([entry]);
  // A Set grows while it is walked, so this follows imports of imports.
  for (const from of files) {
    for (const { specifier, isLater, file = packageEntry(specifier) } of runtimeImports(
      from,
      sources.get(from) ?? '',
    )) {
      if (isLater) continue;
      if (file !== undefined) files.add(file);
      else packages.add(packageOf(specifier) ?? specifier);
    }
  }
  return packages;
}

/** Files that import the given specifiers for their effect; a line of code is taken as it is. */
function project(files: Record<string, string[]>): Sources {
  const asCode = (line: string) => (/\s/.test(line) ? line : `import '${line}';`);
  return new Map(Object.entries(files).map(([path, lines]) => [path, lines.map(asCode).join('\n')]));
}

describe('what is an import at run time', () => {
  function importsOf(...lines: string[]): string[] {
    return runtimeImports('src/contacts/service.ts', lines.join('\n')).map(({ file, specifier }) => file ?? specifier);
  }

  test('values, effects, re-exports and calls are', () => {
    expect(
      importsOf(
        `import { a } from './entity.ts';`,
        `import b, * as c from '../lib/ids.ts';`,
        `import 'valibot';`,
        `export { d } from './events/service.ts';`,
        `export * from '@koa/router';`,
        `const later: Promise<unknown> = import('node:fs');`,
        `import { type E, f } from './queries.ts';`,
      ),
    ).toEqual([
      'src/contacts/entity.ts',
      'src/lib/ids.ts',
      'valibot',
      'src/contacts/events/service.ts',
      '@koa/router',
      'node:fs',
      'src/contacts/queries.ts',
    ]);
  });

  test('types, comments and text are not', () => {
    expect(
      importsOf(
        `import type { A } from './entity.ts';`,
        `export type { B } from './schema.ts';`,
        `type C = import('../http/route.ts').Route;`,
        `// import 'koa';`,
        `/* import 'koa'; */`,
        'const text = "import \'koa\'";',
        'const template = `import "koa"; `;',
        'const here: string = import.meta.url;',
      ),
    ).toEqual([]);
  });

  test('an import list of types alone is one, because the empty list stays behind', () => {
    expect(importsOf(`import { type A } from './entity.ts';`)).toEqual(['src/contacts/entity.ts']);
  });

  test('a computed path is one that no room may have', () => {
    expect(importsOf('await import(name as string);')).toEqual(['<computed>']);
  });
});

describe('a broken rule is told', () => {
  const every: Record<string, string[]> = {
    'src/lib/ids.ts': [],
    'src/lib/config/config.ts': ['valibot'],
    'src/store/orm.ts': ['../lib/ids.ts', '@mikro-orm/core', '../../migrations/index.ts'],
    'migrations/index.ts': [],
    'temporal/commands.ts': [],
    'temporal/setup.ts': ['@temporalio/client', './commands.ts'],
    'src/store/outbox/recovery.ts': ['@temporalio/client', '../orm.ts', '../../../temporal/commands.ts'],
    'src/http/route.ts': [],
    'src/http/app.ts': ['koa', '@koa/cors', './route.ts', typeOf('../lib/config/config.ts')],
    'src/http/guarded-requests/call.ts': ['undici'],
    'src/projects/access/authenticate.ts': ['../../http/route.ts'],
    'src/contacts/entity.ts': ['../store/orm.ts'],
    'src/contacts/service.ts': ['./entity.ts', '../store/outbox/recovery.ts', '../../temporal/commands.ts'],
    'src/contacts/routes.ts': ['../http/route.ts', './service.ts', 'koa'],
    'src/segments/service.ts': ['../contacts/service.ts', typeOf('../contacts/entity.ts')],
    'src/segments/routes.ts': ['../http/route.ts', './service.ts'],
    'src/domains/providers/postmark/postmark.ts': ['postmark'],
    'src/automations/service.ts': ['../segments/service.ts', '../http/guarded-requests/call.ts'],
    'packages/letters/src/index.ts': ['./print.ts', '@fernpost/paper', 'valibot'],
    'packages/letters/src/print.ts': [],
    'packages/letters/test/print.test.ts': ['../src/print.ts', './support.ts', 'vitest'],
    'packages/letters/test/support.ts': [],
    'packages/paper/src/index.ts': [],
    'tools/drill/src/index.ts': ['@fernpost/paper'],
    'src/main/api/routes.ts': ['../../contacts/routes.ts', '../../segments/routes.ts'],
    'src/main/api.ts': [
      '../lib/config/config.ts',
      '../http/app.ts',
      '../contacts/service.ts',
      '../../activities/index.ts',
      '@temporalio/client',
    ],
    'activities/index.ts': ['../src/contacts/service.ts', '../src/store/orm.ts'],
    'workflows/index.ts': ['./sweeps.ts'],
    'workflows/sweeps.ts': ['@temporalio/workflow', '../temporal/commands.ts', '../src/lib/ids.ts'],
    'test/support/api.ts': ['../../src/main/api.ts', '../../src/contacts/entity.ts', '@temporalio/client'],
    'bench/letters.ts': ['@fernpost/letters', '../packages/letters/test/support.ts'],
    'bench/api.ts': ['../test/support/api.ts', '../src/main/api.ts', 'koa'],
  };

  function typeOf(path: string): string {
    return `import type { T } from '${path}';`;
  }

  test('but a project that keeps them all has none', () => {
    expect(brokenRules(project(every))).toEqual([]);
  });

  const contacts = 'src/contacts/service.ts';
  test.each([
    ['src/lib/ids.ts', '../store/orm.ts', 'src/store/orm.ts: store stands above lib'],
    ['src/lib/ids.ts', 'node:fs', 'node:fs: src/lib does no I/O'],
    ['src/lib/ids.ts', 'node:crypto', 'node:crypto: workflows import this file, so it may import nothing but src/lib'],
    ['src/store/orm.ts', '../contacts/service.ts', 'src/contacts/service.ts: contacts stands above store'],
    [
      'src/http/app.ts',
      typeOf('../projects/access/authenticate.ts'),
      'src/projects/access/authenticate.ts: projects stands above http',
    ],
    ['src/http/app.ts', '../main/api.ts', 'src/main/api.ts: main stands above http'],
    ['src/http/app.ts', '@temporalio/client', '@temporalio/client: this package is kept to other places'],
    [contacts, '../segments/service.ts', 'src/segments/service.ts: segments stands above contacts'],
    [contacts, typeOf('../segments/service.ts'), 'src/segments/service.ts: segments stands above contacts'],
    [
      contacts,
      "type T = import('../segments/service.ts').T;",
      'src/segments/service.ts: segments stands above contacts',
    ],
    [contacts, '../http/route.ts', 'src/http/route.ts: only route tables and access control use the HTTP kit'],
    [contacts, '../lib/config/config.ts', 'src/lib/config/config.ts: settings are handed over; only main reads them'],
    [contacts, '../../temporal/setup.ts', 'temporal/setup.ts: contacts must not import temporal'],
    [contacts, '../../workflows/sweeps.ts', 'workflows/sweeps.ts: contacts must not import workflows'],
    [contacts, '../../activities/index.ts', 'activities/index.ts: contacts must not import activities'],
    [contacts, '../../test/support/api.ts', 'test/support/api.ts: contacts must not import test'],
    [contacts, 'koa', 'koa: this package is kept to other places'],
    [contacts, '@koa/router', '@koa/router: this package is kept to other places'],
    [contacts, 'postmark', 'postmark: this package is kept to other places'],
    [contacts, '@temporalio/client', '@temporalio/client: this package is kept to other places'],
    ['src/main/api.ts', 'koa', 'koa: this package is kept to other places'],
    [
      'src/segments/routes.ts',
      '../contacts/routes.ts',
      'src/contacts/routes.ts: only main puts tables of routes together',
    ],
    ['activities/index.ts', '../src/http/route.ts', 'src/http/route.ts: activities must not import http'],
    [
      'activities/index.ts',
      '../src/contacts/routes.ts',
      'src/contacts/routes.ts: only main puts tables of routes together',
    ],
    ['workflows/sweeps.ts', '../activities/index.ts', 'activities/index.ts: workflows must not import activities'],
    [
      'workflows/sweeps.ts',
      '../src/contacts/service.ts',
      'src/contacts/service.ts: workflows must not import contacts',
    ],
    ['workflows/sweeps.ts', 'valibot', 'valibot: workflows may import no package but @temporalio/workflow'],
    ['workflows/sweeps.ts', 'node:crypto', 'node:crypto: workflows may import no package but @temporalio/workflow'],
    [
      'workflows/sweeps.ts',
      'await import(name);',
      '<computed>: workflows may import no package but @temporalio/workflow',
    ],
    ['temporal/commands.ts', '../src/store/orm.ts', 'src/store/orm.ts: commands must not import store'],
    ['temporal/setup.ts', '../src/main/api.ts', 'src/main/api.ts: temporal must not import main'],
    [
      'src/main/api.ts',
      '../../packages/letters/src/index.ts',
      'packages/letters/src/index.ts: packages are imported by name',
    ],
    [
      contacts,
      typeOf('../../packages/letters/src/index.ts'),
      'packages/letters/src/index.ts: packages are imported by name',
    ],
    [
      'bench/api.ts',
      '../packages/letters/src/print.ts',
      'packages/letters/src/print.ts: packages are imported by name',
    ],
    [
      contacts,
      '../../packages/letters/test/support.ts',
      'packages/letters/test/support.ts: packages are imported by name',
    ],
    [
      'packages/letters/src/index.ts',
      '../../../src/lib/ids.ts',
      'src/lib/ids.ts: a package imports no file outside of it',
    ],
    [
      'packages/letters/src/index.ts',
      typeOf('../../../src/lib/ids.ts'),
      'src/lib/ids.ts: a package imports no file outside of it',
    ],
    [
      'packages/letters/src/index.ts',
      '../../paper/src/index.ts',
      'packages/paper/src/index.ts: a package imports no file outside of it',
    ],
    [
      'packages/letters/test/support.ts',
      '../../../test/support/api.ts',
      'test/support/api.ts: a package imports no file outside of it',
    ],
    [
      'packages/letters/src/index.ts',
      '../test/support.ts',
      'packages/letters/test/support.ts: only tests import tests',
    ],
    ['packages/letters/src/index.ts', 'koa', 'koa: this package is kept to other places'],
    ['src/store/orm.ts', './gone.ts', 'src/store/gone.ts: there is no such file'],
  ])('%s imports %s', (file, specifier, message) => {
    const broken = { ...every, [file]: [...(every[file] ?? []), specifier] };
    expect(brokenRules(project(broken))).toContain(`${file} → ${message}`);
  });

  test('a cycle inside a subject, once, with its whole way', () => {
    const broken = { ...every, 'src/contacts/entity.ts': ['./service.ts'] };
    expect(brokenRules(project(broken))).toEqual([
      'src/contacts/entity.ts → src/contacts/service.ts → src/contacts/entity.ts: a cycle of imports',
    ]);
  });

  test('a cycle of packages', () => {
    expect(brokenRules(project({ ...every, 'packages/paper/src/index.ts': ['@fernpost/letters'] }))).toEqual([
      'packages/letters/src/index.ts → packages/paper/src/index.ts → packages/letters/src/index.ts: a cycle of imports',
    ]);
  });

  test('a library file that only another library file brings into a workflow', () => {
    const broken = { ...every, 'src/lib/ids.ts': ['./random.ts'], 'src/lib/random.ts': ['node:crypto'] };
    expect(brokenRules(project(broken))).toEqual([
      'src/lib/random.ts → node:crypto: workflows import this file, so it may import nothing but src/lib',
    ]);
  });

  test('a file that stands in no area', () => {
    expect(brokenRules(project({ ...every, 'src/helpers.ts': [], 'src/platform/helpers.ts': [] }))).toEqual([
      'src/helpers.ts: stands in no area',
      'src/platform/helpers.ts: stands in no area',
    ]);
  });
});

describe('cycles in a graph', () => {
  test.each([
    ['none', { a: ['b', 'c'], b: ['c'], c: [] }, []],
    ['one of two', { b: ['a'], a: ['b'] }, [['a', 'b']]],
    ['one that is entered from outside', { a: ['c'], c: ['d'], d: ['b'], b: ['c'] }, [['b', 'c', 'd']]],
    [
      'two that share a file',
      { a: ['b', 'c'], b: ['a'], c: ['a'] },
      [
        ['a', 'b'],
        ['a', 'c'],
      ],
    ],
  ])('%s', (_, graph, rings) => {
    expect(cycles(new Map(Object.entries(graph)))).toEqual(rings);
  });
});

describe('a dependency', () => {
  const manifest: Manifest = {
    scripts: { test: 'vitest run', typecheck: 'tsc -p .' },
    dependencies: { koa: '3.3.0', valibot: '1.5.0', pino: '10.4.0-beta.1' },
    devDependencies: { vitest: '5.1.1', typescript: '7.0.2', '@types/koa': '3.0.3', '@types/node': '24.19.2' },
  };
  const page = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
    .map((name) => `| \`${name}\` | why |`)
    .join('\n');
  const from = (name: string) => `import type { T } from '${name}';`;
  const files = {
    'src/http/app.ts': ['koa', 'valibot', 'node:http', from('pino')],
    'test/unit/a.test.ts': ['vitest', 'koa/lib/x.js'],
  };

  test('that is declared, exact, imported and explained is in order', () => {
    expect(packageProblems(manifest, project(files), page)).toEqual([]);
  });

  test('with a range for a version is told', () => {
    for (const version of ['^3.3.0', '~3.3.0', '3', '*', 'latest', '3.x', 'git+ssh://example.com/koa.git']) {
      const loose = { ...manifest, dependencies: { ...manifest.dependencies, koa: version } };
      expect(packageProblems(loose, project(files), page)).toEqual([`koa: version ${version} is not exact`]);
    }
  });

  test('that nothing imports is told', () => {
    const idle = { ...manifest, dependencies: { ...manifest.dependencies, jose: '6.2.17' } };
    expect(packageProblems(idle, project(files), `${page} \`jose\``)).toEqual(['jose: nothing imports it']);
  });

  test('that the page does not name, or names only as part of another name, is told', () => {
    expect(packageProblems(manifest, project(files), page.replace('`koa`', '`koa-helmet`'))).toEqual([
      'koa: not named in docs/dependencies.md',
    ]);
  });

  test('that is imported, be it for a type, and not declared is told with the file', () => {
    const more = { ...files, 'src/http/files.ts': ['left-pad/x.js', '@scope/one/two.js', from('lodash')] };
    expect(packageProblems(manifest, project(more), page)).toEqual([
      'src/http/files.ts → @scope/one: not declared in package.json',
      'src/http/files.ts → left-pad: not declared in package.json',
      'src/http/files.ts → lodash: not declared in package.json',
    ]);
  });

  test('that the service needs and only development has is told', () => {
    const more = { ...files, 'src/http/files.ts': ['vitest'] };
    expect(packageProblems(manifest, project(more), page)).toEqual([
      'src/http/files.ts → vitest: only a development dependency',
    ]);
  });

  test('of the whole project serves the tests of a package, and only them', () => {
    const own = { dependencies: { koa: '3.3.0' } };
    const test = { 'packages/letters/test/a.test.ts': ['vitest'] };
    const code = { 'packages/letters/src/index.ts': ['koa'] };
    const problemsOf = (sources: Sources) => packageProblems(own, sources, page, manifest.devDependencies);
    expect(problemsOf(project({ ...code, ...test }))).toEqual([]);
    expect(problemsOf(project({ 'packages/letters/src/index.ts': ['koa', 'vitest', 'valibot'] }))).toEqual([
      'packages/letters/src/index.ts → valibot: not declared in package.json',
      'packages/letters/src/index.ts → vitest: not declared in package.json',
    ]);
  });

  test('that is declared twice is told', () => {
    const twice = { ...manifest, devDependencies: { ...manifest.devDependencies, koa: '3.3.0' } };
    expect(packageProblems(twice, project(files), page)).toEqual(['koa: declared twice']);
  });
});
