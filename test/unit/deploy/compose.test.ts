import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtCliVersion, dynamicConfig, temporalCliPackage, testedTemporal } from '@fernpost/local-stack';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../../src/lib/config/config.ts';
import { settings } from '../../../src/lib/config/settings.ts';
import { workerNodeOptions } from '../../../src/main/setup/process.ts';
import { containerEnv, readCompose } from '../../support/compose.ts';

const root = join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const compose = read('docker-compose.yml');
const { services, volumes } = readCompose();
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '');
const names = Object.keys(settings);
/** The services that run our programs. */
const ours = Object.entries(services).filter(([, { image }]) => image === 'fernpost');

/** Values for Temporal's own chart. */
const cluster = parse(read('deploy/helm/temporal-values.yaml')) as {
  server: { image: { tag: string }; dynamicConfig: Record<string, { value: number }[]> };
  admintools: { image: { tag: string } };
  web: { image: { tag: string } };
};

/** What a container needs in a form of its own, whatever `.env` says. */
const fixed: Record<string, string> = {
  HOST: '0.0.0.0',
  PORT: '3000',
  SANDBOX_HOST: '0.0.0.0',
  SANDBOX_PORT: '8025',
  METRICS_HOST: '0.0.0.0',
  DATA_DIR: '/data',
  UPLOAD_DIR: '/data/uploads',
};
const fixedIn: Record<string, Record<string, string>> = {
  api: { API_METRICS_PORT: '9464' },
  worker: { WORKER_METRICS_PORT: '9464' },
  smtp: {
    SMTP_IN_HOST: '0.0.0.0',
    SMTP_IN_PORT: '587',
    SMTP_IN_TLS_PORT: '465',
    SMTP_IN_METRICS_PORT: '9464',
  },
};

/** Variables of docker-compose.yml that are no settings of ours. */
const variables = [
  'BIND_ADDRESS',
  'GRAFANA_PASSWORD',
  'GRAFANA_PORT',
  'GRAFANA_VERSION',
  'POSTGRES_DB',
  'POSTGRES_EFFECTIVE_CACHE_SIZE',
  'POSTGRES_PASSWORD',
  'POSTGRES_SHARED_BUFFERS',
  'POSTGRES_USER',
  'PROMETHEUS_PORT',
  'PROMETHEUS_VERSION',
  'SMTP_CERTIFICATES',
  'TEMPORAL_UI_VERSION',
  'TEMPORAL_VERSION',
];

test('docker-compose.yml passes every setting of .env to every process of ours', () => {
  expect(ours.map(([name]) => name).sort()).toEqual(['api', 'migrate', 'sandbox', 'smtp', 'worker']);
  for (const [service, definition] of ours)
    for (const name of names) {
      const due = { ...fixed, ...fixedIn[service] }[name] ?? `the value of ${name}`;
      expect(containerEnv(definition, { [name]: `the value of ${name}` })[name], `${service}: ${name}`).toBe(due);
    }
});

test('docker-compose.yml sets only settings that exist, so that none is misspelt', () => {
  for (const [service, definition] of ours) {
    const set = Object.keys(containerEnv(definition, {}));
    expect(set.length).toBeGreaterThan(10);
    expect(
      set.filter((name) => !names.includes(name)),
      service,
    ).toEqual([]);
  }
  const read = new Set(matches(compose, /(?<!\$)\$\{(\w+)/g));
  expect([...read].filter((name) => !names.includes(name)).sort()).toEqual(variables);
});

test('the chapter on containers names only what exists, and every variable of docker-compose.yml', () => {
  const [, chapter = ''] = read('docs/operations/install.md').split(/^## Docker$/m);
  const named = matches(chapter.split(/^## /m)[0] ?? '', /(?:`|^)([A-Z][A-Z0-9]*_[A-Z0-9_]+|HOST|PORT)\b/gm);
  expect(named.filter((name) => !names.includes(name) && !variables.includes(name))).toEqual([]);
  expect(named).toEqual(expect.arrayContaining([...variables, ...Object.keys(fixed)]));
});

test.each([
  ['no .env at all', {}],
  [
    'the least that production needs',
    {
      NODE_ENV: 'production',
      JWT_SECRET: 'x'.repeat(48),
      POSTGRES_PASSWORD: 'sesame',
      PUBLIC_URL: 'https://mail.example.com',
      POSTMARK_SERVER_TOKEN: 'token',
      SYSTEM_FROM_ADDRESS: 'mail@example.com',
    },
  ],
])('docker-compose.yml with %s gives every process settings it can read', (_, dotEnv: Record<string, string>) => {
  for (const [, definition] of ours) {
    const config = readConfig(containerEnv(definition, dotEnv), ['DATABASE_URL', 'TEMPORAL_ADDRESS']);
    expect(config.DATABASE_URL).toBe(
      `postgres://fernpost:${dotEnv.POSTGRES_PASSWORD ?? 'fernpost-development'}@postgres:5432/fernpost`,
    );
    expect(config.PUBLIC_URL).toBe(dotEnv.PUBLIC_URL ?? 'http://localhost:3000');
  }
});

test('what must outlive its container lies in a volume with a name', () => {
  const mounts = Object.entries(services).flatMap(([name, service]) =>
    (service.volumes ?? []).filter((mount) => !/^(\.\/|\$)/.test(mount)).map((mount) => `${name} ${mount}`),
  );
  expect(mounts).toEqual([
    `api uploads:${fixed.UPLOAD_DIR}`,
    `sandbox sandbox:${fixed.DATA_DIR}`,
    'postgres postgres:/var/lib/postgresql',
    'prometheus prometheus:/prometheus',
    'grafana grafana:/var/lib/grafana',
  ]);
  expect(Object.keys(volumes).sort()).toEqual(mounts.map((mount) => mount.split(/[ :]/)[1]).sort());
  // A volume takes its owner from the folder in the image.
  expect(read('Dockerfile')).toContain('mkdir -p /data/uploads && chown -R node:node /data');
});

test('docker-compose.yml listens where `npm start` does, and nothing but the API and SMTP can be opened to others', () => {
  expect(Object.values(services).flatMap(({ ports }) => ports ?? [])).toEqual([
    `\${BIND_ADDRESS:-127.0.0.1}:\${PORT:-${settings.PORT.fallback}}:3000`,
    `\${BIND_ADDRESS:-127.0.0.1}:\${SMTP_IN_PORT:-587}:587`,
    `\${BIND_ADDRESS:-127.0.0.1}:\${SMTP_IN_TLS_PORT:-465}:465`,
    `127.0.0.1:\${SANDBOX_PORT:-${settings.SANDBOX_PORT.fallback}}:8025`,
    `127.0.0.1:\${TEMPORAL_PORT:-${settings.TEMPORAL_PORT.fallback}}:7233`,
    `127.0.0.1:\${TEMPORAL_UI_PORT:-${settings.TEMPORAL_UI_PORT.fallback}}:8080`,
    `127.0.0.1:\${PROMETHEUS_PORT:-9090}:9090`,
    `127.0.0.1:\${GRAFANA_PORT:-3001}:3000`,
  ]);
});

test('every file that docker-compose.yml mounts is there', () => {
  const files = Object.values(services).flatMap(({ volumes: mounts }) =>
    (mounts ?? []).filter((mount) => mount.startsWith('./')).map((mount) => mount.split(':')[0] ?? ''),
  );
  expect(files.length).toBeGreaterThan(2);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('the image brings what was built', () => {
  const image = read('Dockerfile');
  for (const folder of ['dashboard/dist', 'dist'])
    expect(image).toContain(`COPY --from=build /app/${folder} ./${folder}`);
});

test('the image gets the dependencies of every workspace', () => {
  const image = read('Dockerfile');
  const foldersOf = (top: string) => readdirSync(join(root, top)).map((name) => `${top}/${name}`);
  for (const folder of ['dashboard', ...foldersOf('packages'), ...foldersOf('tools')])
    expect(image).toContain(`COPY ${folder}/package.json ${folder}/\n`);
});

test('docker-compose.yml runs programs that exist and are in the image', () => {
  const programs = matches(`${compose}\n${read('Dockerfile')}`, /node"?,? "?(?:--[\w=-]+, )?(src\/main\/[a-z-]+\.ts)/g);
  expect(new Set(programs)).toEqual(
    new Set(
      ['api', 'worker', 'smtp', 'sandbox', 'migrate', 'build', 'write-notices'].map((name) => `src/main/${name}.ts`),
    ),
  );
  for (const program of programs) expect(existsSync(join(root, program)), program).toBe(true);
  const copied = matches(read('.dockerignore'), /^!(\S+)$/gm);
  expect(copied).toEqual(
    expect.arrayContaining(['src', 'packages', 'workflows', 'activities', 'migrations', 'temporal', 'package.json']),
  );
});

test('a worker has the same options of Node however it is started', () => {
  const [option] = workerNodeOptions;
  expect(workerNodeOptions).toEqual([option]);
  expect(compose).toContain(`command: [node, ${option}, src/main/worker.ts]`);
  expect(JSON.parse(read('package.json')).scripts.worker).toBe(`exec node ${option} src/main/worker.ts`);
});

test('Postgres in a container plans and logs as that of `npm start`', () => {
  const own = read('tools/local-stack/src/postgres/postgres-server.ts');
  const { command } = services.postgres ?? {};
  for (const name of [
    'work_mem',
    'random_page_cost',
    'checkpoint_timeout',
    'jit',
    'log_min_error_statement',
    'log_error_verbosity',
  ])
    expect(command).toContain(`-c${name}=${own.match(new RegExp(`\\b${name}: '?([^',]+)`))?.[1]}`);
});

test('each service that another waits for exists', () => {
  const awaited = Object.values(services).flatMap(({ depends_on }) => Object.keys(depends_on ?? {}));
  expect(awaited.length).toBeGreaterThan(4);
  expect(awaited.filter((name) => services[name] === undefined)).toEqual([]);
});

test('a Temporal server in a container gets the same dynamic configuration as the development server', () => {
  const yaml = read('temporal/dynamic-config.yaml').replaceAll(/^#.*\n/gm, '');
  const expected = Object.entries(dynamicConfig).map(([name, value]) => `${name}:\n  - value: ${value}\n`);
  expect(yaml).toBe(expected.join(''));
  expect(compose).toContain('./temporal/dynamic-config.yaml:');
  const inCluster = Object.entries(dynamicConfig).map(([name, value]) => [name, [{ value }]]);
  expect(cluster.server.dynamicConfig).toEqual(Object.fromEntries(inCluster));
});

test('Temporal is the same version in the tests, in docker-compose.yml and in the guide', () => {
  const { cli, server, ui } = testedTemporal;
  const images = Object.values(services).flatMap(({ image }) => (image?.startsWith('temporalio/') ? [image] : []));
  expect(images.sort()).toEqual([
    `temporalio/admin-tools:\${TEMPORAL_VERSION:-${server}}`,
    `temporalio/server:\${TEMPORAL_VERSION:-${server}}`,
    `temporalio/ui:\${TEMPORAL_UI_VERSION:-${ui}}`,
  ]);
  expect(read('docs/operations/install.md')).toContain(`CLI ${cli}, with server ${server} and Web UI ${ui}`);
  expect([cluster.server, cluster.admintools, cluster.web].map(({ image }) => image.tag)).toEqual([server, server, ui]);
  // The tests of production build the server itself.
  expect(read('test/temporal-server/go.mod')).toMatch(pinned('go.temporal.io/server', server));
  expect(read('docs/operations/configure.md')).toContain(`builds Temporal's server ${server} from its Go module`);
});

test('the Temporal CLI that Go builds, the newest that it can, is the version that the code says', () => {
  const goMod = read('tools/local-stack/go.mod');
  expect(goMod).toContain(`tool ${temporalCliPackage}\n`);
  expect(goMod).toMatch(pinned('github.com/temporalio/cli', builtCliVersion));
});

/** The line of a go.mod that pins a module. */
function pinned(module: string, version: string): RegExp {
  return new RegExp(`\\s${module} v${version}(\\s|$)`.replaceAll('.', '\\.'), 'm');
}
