import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { cycles } from '../support/architecture/cycles.ts';
import { runtimeImports, type Sources } from '../support/architecture/imports.ts';
import { type Manifest, packageProblems } from '../support/architecture/packages.ts';
import { brokenRules } from '../support/architecture/rules.ts';
import { readSources } from '../support/architecture/sources.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('the project', () => {
  const sources = readSources(root);

  test('is read whole: each folder of code is there, with the imports it is known to have', () => {
    for (const folder of [
      'src/core/lib/',
      'src/core/database/',
      'src/core/http/',
      'src/main/',
      'workflows/',
      'activities/',
      'temporal/',
      'test/unit/',
    ]) {
      expect([...sources.keys()].filter((path) => path.startsWith(folder)).length, folder).toBeGreaterThan(0);
    }
    const imports = runtimeImports(
      'src/platform/verification/service.ts',
      sources.get('src/platform/verification/service.ts') ?? '',
    );
    expect(imports.map(({ file, specifier }) => file ?? specifier).sort()).toEqual([
      'src/core/lib/email-address.ts',
      'src/platform/verification/typo.ts',
      'tldts',
    ]);
  });

  test('keeps the direction of its imports', () => {
    expect(brokenRules(sources)).toEqual([]);
  });

  test('declares what it imports, imports what it declares, exactly, and says why', () => {
    const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as Manifest;
    expect(Object.keys(manifest.dependencies ?? {}).length).toBeGreaterThan(10);
    const page = readFileSync(`${root}docs/dependencies.md`, 'utf8');
    expect(packageProblems(manifest, sources, page)).toEqual([]);
  });
});

/** Files that import the given specifiers for their effect; a line of code is taken as it is. */
function project(files: Record<string, string[]>): Sources {
  const asCode = (line: string) => (/\s/.test(line) ? line : `import '${line}';`);
  return new Map(Object.entries(files).map(([path, lines]) => [path, lines.map(asCode).join('\n')]));
}

describe('what is an import at run time', () => {
  function importsOf(...lines: string[]): string[] {
    return runtimeImports('src/audience/contacts/service.ts', lines.join('\n')).map(
      ({ file, specifier }) => file ?? specifier,
    );
  }

  test('values, effects, re-exports and calls are', () => {
    expect(
      importsOf(
        `import { a } from './entity.ts';`,
        `import b, * as c from '../lib/ids.ts';`,
        `import 'valibot';`,
        `export { d } from '../events/service.ts';`,
        `export * from '@koa/router';`,
        `const later: Promise<unknown> = import('node:fs');`,
        `import { type E, f } from './queries.ts';`,
      ),
    ).toEqual([
      'src/contacts/entity.ts',
      'src/core/lib/ids.ts',
      'valibot',
      'src/audience/events/service.ts',
      '@koa/router',
      'node:fs',
      'src/audience/contacts/queries.ts',
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
    'src/core/config/config.ts': ['valibot'],
    'src/core/lib/ids.ts': [],
    'src/core/database/orm.ts': ['../lib/ids.ts', '@mikro-orm/core', '../../migrations/index.ts'],
    'migrations/index.ts': [],
    'temporal/commands.ts': [],
    'temporal/setup.ts': ['@temporalio/client', './commands.ts'],
    'src/core/outbox/relay.ts': ['@temporalio/client', '../db/orm.ts', '../../temporal/commands.ts'],
    'src/contacts/entity.ts': ['../db/orm.ts'],
    'src/audience/contacts/service.ts': ['./entity.ts', '../outbox/relay.ts', '../delivery/mailer.ts'],
    'src/contacts/import-csv.ts': [],
    'src/audience/contacts/routes.ts': ['../http/route.ts', './service.ts', 'koa'],
    'src/audience/events/service.ts': ['../contacts/service.ts'],
    'src/audience/events/routes.ts': ['../http/route.ts', './service.ts', '../contacts/service.ts'],
    'src/sending/providers/mailer.ts': [],
    'src/sending/providers/postmark.ts': ['postmark'],
    'src/sandbox/app.ts': ['koa', '../lib/ids.ts'],
    'src/core/http/route.ts': [],
    'src/core/http/app.ts': ['koa', '@koa/cors', './routes.ts'],
    'src/main/routes.ts': ['../contacts/routes.ts', '../events/routes.ts'],
    'src/main/api.ts': [
      '../config.ts',
      '../http/app.ts',
      '../sandbox/app.ts',
      '../../activities/index.ts',
      '@temporalio/client',
    ],
    'activities/index.ts': ['../src/contacts/service.ts'],
    'workflows/index.ts': ['./sweeps.ts'],
    'workflows/sweeps.ts': ['@temporalio/workflow', '../temporal/commands.ts', '../src/lib/ids.ts'],
    'test/support/api.ts': ['../../src/main/api.ts', '@temporalio/client'],
    'bench/api.ts': ['../test/support/api.ts', '../src/main/api.ts', 'koa'],
  };

  test('but a project that keeps them all has none', () => {
    expect(brokenRules(project(every))).toEqual([]);
  });

  test.each([
    ['src/core/lib/ids.ts', '../db/orm.ts', 'src/core/lib/ids.ts → src/core/database/orm.ts: lib must not import db'],
    ['src/core/lib/ids.ts', 'node:fs', 'src/core/lib/ids.ts → node:fs: src/core/lib does no I/O'],
    [
      'src/core/database/orm.ts',
      '../contacts/entity.ts',
      'src/core/database/orm.ts → src/contacts/entity.ts: db must not import subject',
    ],
    [
      'src/core/outbox/relay.ts',
      '../contacts/entity.ts',
      'src/core/outbox/relay.ts → src/contacts/entity.ts: outbox must not import subject',
    ],
    [
      'src/audience/contacts/service.ts',
      '../http/route.ts',
      'src/audience/contacts/service.ts → src/core/http/route.ts: subject must not import http',
    ],
    [
      'src/audience/contacts/service.ts',
      '../config.ts',
      'src/audience/contacts/service.ts → src/core/config/config.ts: subject must not import config',
    ],
    [
      'src/audience/contacts/service.ts',
      '../../temporal/setup.ts',
      'src/audience/contacts/service.ts → temporal/setup.ts: subject must not import temporal',
    ],
    [
      'src/audience/contacts/service.ts',
      '../../workflows/sweeps.ts',
      'src/audience/contacts/service.ts → workflows/sweeps.ts: subject must not import workflows',
    ],
    [
      'src/audience/contacts/service.ts',
      '../../activities/index.ts',
      'src/audience/contacts/service.ts → activities/index.ts: subject must not import activities',
    ],
    [
      'src/audience/contacts/service.ts',
      '../sandbox/app.ts',
      'src/audience/contacts/service.ts → src/sandbox/app.ts: subject must not import sandbox',
    ],
    [
      'src/audience/contacts/service.ts',
      '../support/api.ts',
      'src/audience/contacts/service.ts → test/support/api.ts: subject must not import test',
    ],
    [
      'src/audience/contacts/service.ts',
      'koa',
      'src/audience/contacts/service.ts → koa: this package is kept to other rooms',
    ],
    [
      'src/audience/contacts/service.ts',
      '@koa/router',
      'src/audience/contacts/service.ts → @koa/router: this package is kept to other rooms',
    ],
    [
      'src/audience/contacts/service.ts',
      'postmark',
      'src/audience/contacts/service.ts → postmark: this package is kept to other rooms',
    ],
    [
      'src/audience/contacts/service.ts',
      '@temporalio/client',
      'src/audience/contacts/service.ts → @temporalio/client: this package is kept to other rooms',
    ],
    ['src/main/api.ts', 'koa', 'src/main/api.ts → koa: this package is kept to other rooms'],
    [
      'src/core/http/app.ts',
      '@temporalio/client',
      'src/core/http/app.ts → @temporalio/client: this package is kept to other rooms',
    ],
    ['src/core/http/app.ts', '../main/api.ts', 'src/core/http/app.ts → src/main/api.ts: http must not import main'],
    [
      'src/core/http/app.ts',
      '../config.ts',
      'src/core/http/app.ts → src/core/config/config.ts: http must not import config',
    ],
    [
      'src/audience/events/routes.ts',
      '../contacts/routes.ts',
      'src/audience/events/routes.ts → src/audience/contacts/routes.ts: only src/core/http may import a table of routes',
    ],
    [
      'src/audience/events/service.ts',
      './routes.ts',
      'src/audience/events/service.ts → src/audience/events/routes.ts: subject must not import http',
    ],
    [
      'src/audience/events/service.ts',
      '../contacts/import-csv.ts',
      'src/audience/events/service.ts → src/contacts/import-csv.ts: of another subject only service, entity, schema and queries may be imported',
    ],
    ['src/sandbox/app.ts', '../db/orm.ts', 'src/sandbox/app.ts → src/core/database/orm.ts: sandbox must not import db'],
    [
      'activities/index.ts',
      '../src/http/route.ts',
      'activities/index.ts → src/core/http/route.ts: activities must not import http',
    ],
    [
      'activities/index.ts',
      '../src/contacts/routes.ts',
      'activities/index.ts → src/audience/contacts/routes.ts: activities must not import http',
    ],
    [
      'workflows/sweeps.ts',
      '../activities/index.ts',
      'workflows/sweeps.ts → activities/index.ts: workflows must not import activities',
    ],
    [
      'workflows/sweeps.ts',
      '../src/contacts/entity.ts',
      'workflows/sweeps.ts → src/contacts/entity.ts: workflows must not import subject',
    ],
    [
      'workflows/sweeps.ts',
      'valibot',
      'workflows/sweeps.ts → valibot: workflows may import no package but @temporalio/workflow',
    ],
    [
      'workflows/sweeps.ts',
      'node:crypto',
      'workflows/sweeps.ts → node:crypto: workflows may import no package but @temporalio/workflow',
    ],
    [
      'workflows/sweeps.ts',
      'await import(name);',
      'workflows/sweeps.ts → <computed>: workflows may import no package but @temporalio/workflow',
    ],
    [
      'src/core/lib/ids.ts',
      'node:crypto',
      'src/core/lib/ids.ts → node:crypto: workflows import this file, so it may import nothing but src/core/lib',
    ],
    [
      'temporal/commands.ts',
      '../src/db/orm.ts',
      'temporal/commands.ts → src/core/database/orm.ts: commands must not import db',
    ],
    ['temporal/setup.ts', '../src/main/api.ts', 'temporal/setup.ts → src/main/api.ts: temporal must not import main'],
    ['src/core/database/orm.ts', './gone.ts', 'src/core/database/orm.ts → src/db/gone.ts: there is no such file'],
    ['src/contacts/entity.ts', './entity.ts', 'src/contacts/entity.ts → src/contacts/entity.ts: a ring of imports'],
  ])('%s imports %s', (file, specifier, message) => {
    const broken = { ...every, [file]: [...(every[file] ?? []), specifier] };
    expect(brokenRules(project(broken))).toContain(message);
  });

  test('a ring over several files, once, with its whole way', () => {
    const broken = { ...every, 'src/contacts/entity.ts': ['../events/service.ts'] };
    expect(brokenRules(project(broken))).toEqual([
      'src/contacts/entity.ts → src/audience/events/service.ts → src/audience/contacts/service.ts → src/contacts/entity.ts: a ring of imports',
    ]);
  });

  test('a library file that only another library file brings into a workflow', () => {
    const broken = { ...every, 'src/core/lib/ids.ts': ['./random.ts'], 'src/lib/random.ts': ['node:crypto'] };
    expect(brokenRules(project(broken))).toEqual([
      'src/lib/random.ts → node:crypto: workflows import this file, so it may import nothing but src/core/lib',
    ]);
  });

  test('a file that stands in no room', () => {
    expect(brokenRules(project({ ...every, 'src/helpers.ts': [] }))).toEqual(['src/helpers.ts: stands in no room']);
  });

  test('type imports of anything are free', () => {
    const from = (path: string) => `import type { T } from '${path}';`;
    const free = {
      ...every,
      'src/core/lib/ids.ts': [from('../main/api.ts'), from('koa'), from('../contacts/routes.ts')],
    };
    expect(brokenRules(project(free))).toEqual([]);
  });
});

describe('rings in a graph', () => {
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
    'src/core/http/app.ts': ['koa', 'valibot', 'node:http', from('pino')],
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
    const more = { ...files, 'src/core/http/docs.ts': ['left-pad/x.js', '@scope/one/two.js', from('lodash')] };
    expect(packageProblems(manifest, project(more), page)).toEqual([
      'src/core/http/docs.ts → @scope/one: not declared in package.json',
      'src/core/http/docs.ts → left-pad: not declared in package.json',
      'src/core/http/docs.ts → lodash: not declared in package.json',
    ]);
  });

  test('that the service needs and only development has is told', () => {
    const more = { ...files, 'src/core/http/docs.ts': ['vitest'] };
    expect(packageProblems(manifest, project(more), page)).toEqual([
      'src/core/http/docs.ts → vitest: only a development dependency',
    ]);
  });

  test('that is declared twice is told', () => {
    const twice = { ...manifest, devDependencies: { ...manifest.devDependencies, koa: '3.3.0' } };
    expect(packageProblems(twice, project(files), page)).toEqual(['koa: declared twice']);
  });
});
