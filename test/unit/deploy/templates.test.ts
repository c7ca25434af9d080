import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { systemRoutes } from '../../../src/http/system.ts';
import { readConfig } from '../../../src/lib/config/config.ts';
import { settings } from '../../../src/lib/config/settings.ts';
import { workerNodeOptions } from '../../../src/main/setup/process.ts';
import { deployFile } from '../../support/deploy.ts';

const root = join(import.meta.dirname, '../../..');
const names = [...Object.keys(settings), 'NODE_OPTIONS', 'MALLOC_ARENA_MAX'];
const unknown = (found: readonly string[]) => found.filter((name) => !names.includes(name));

/** The lines of a file of settings; what an operator fills in has a value that can be read. */
function envFile(path: string): Record<string, string> {
  const lines = deployFile(path)
    .split('\n')
    .filter((line) => /^\w+=/.test(line))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  return Object.fromEntries(
    lines.map(([name = '', value]) => [
      name,
      value ||
        (name === 'DATABASE_URL' ? 'postgres://fernpost:sesame@db:5432/fernpost' : `${name.toLowerCase()}-`.repeat(5)),
    ]),
  );
}

interface Probe {
  httpGet: { path: string; port: string };
}
interface Container {
  name: string;
  image: string;
  command: string[];
  env?: { name: string; value: string }[];
  envFrom: object[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe | { tcpSocket: { port: string } };
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext: object;
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: {
    selector?: { matchLabels: Record<string, string> };
    strategy?: { type: string };
    template: {
      metadata: { labels: Record<string, string> };
      spec: { terminationGracePeriodSeconds: number; initContainers?: Container[]; containers: Container[] };
    };
  };
}

describe('Kubernetes', () => {
  const kustomization = parse(deployFile('kubernetes/kustomization.yaml')) as {
    resources: string[];
    configMapGenerator: { envs: string[] }[];
    images: { name: string; newTag: string }[];
  };
  const smtp = parse(deployFile('kubernetes/smtp/kustomization.yaml')) as {
    resources: string[];
    configMapGenerator: { name: string; behavior: string; envs: string[] }[];
  };
  const files = [...kustomization.resources, ...smtp.resources.map((file) => `smtp/${file}`)];
  const manifests = files.flatMap((file) =>
    parseAllDocuments(deployFile(`kubernetes/${file}`)).map((document) => document.toJS() as Manifest),
  );
  const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
  const containers = deployments.flatMap(({ spec }) => [
    ...spec.template.spec.containers,
    ...(spec.template.spec.initContainers ?? []),
  ]);
  const plain = { ...envFile('kubernetes/settings.env'), ...envFile('kubernetes/smtp/settings.env') };
  const secrets = envFile('kubernetes/secrets.env.example');

  const schema = JSON.parse(readFileSync(join(root, 'test/data/kubernetes-1.34.schema.json'), 'utf8')) as {
    kinds: Record<string, object>;
    $defs: object;
  };
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  function problems(manifest: Manifest): string[] {
    const of = schema.kinds[`${manifest.apiVersion} ${manifest.kind}`];
    if (of === undefined) return [`no schema for ${manifest.apiVersion} ${manifest.kind}`];
    const check = ajv.compile({ ...of, $defs: schema.$defs });
    check(manifest);
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  test('every manifest is of its schema, which refuses what is misspelt', () => {
    const kinds = manifests.map((manifest) => {
      expect(problems(manifest), `${manifest.kind} ${manifest.metadata.name}`).toEqual([]);
      return manifest.kind;
    });
    expect(kinds).toEqual([
      ...['Deployment', 'Service', 'PodDisruptionBudget', 'Deployment', 'Ingress', 'NetworkPolicy'],
      ...['Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'],
    ]);
    const wrong = structuredClone(manifests[0]) as Manifest & {
      spec: { template: { spec: { containers: (Container & { redinessProbe?: object })[] } } };
    };
    const [container] = wrong.spec.template.spec.containers;
    if (container) container.redinessProbe = {};
    expect(problems(wrong).join()).toContain('redinessProbe');
  });

  test('names of settings are settings, each in one place, and make a configuration', () => {
    expect(kustomization.configMapGenerator.flatMap(({ envs }) => envs)).toEqual(['settings.env']);
    expect(unknown([...Object.keys(plain), ...Object.keys(secrets)])).toEqual([]);
    expect(Object.keys(plain).filter((name) => name in secrets)).toEqual([]);
    for (const { name, env = [], envFrom } of containers) {
      expect(unknown(env.map((one) => one.name)), name).toEqual([]);
      expect(envFrom, name).toEqual([
        { configMapRef: { name: 'fernpost-settings' } },
        { secretRef: { name: 'fernpost-secrets' } },
      ]);
      const own = Object.fromEntries(env.map((one) => [one.name, one.value]));
      const config = readConfig({ ...plain, ...secrets, ...own }, ['DATABASE_URL', 'TEMPORAL_ADDRESS']);
      expect([config.NODE_ENV, config.storageDriver, config.mailProvider]).toEqual(['production', 's3', 'postmark']);
    }
  });

  test('every container has bounded memory and no rights, and every process is probed where it listens', () => {
    const paths = systemRoutes({} as never, () => null).map(({ path }) => path);
    for (const { image, resources, securityContext } of containers) {
      expect(kustomization.images.map(({ name }) => name)).toContain(image);
      expect(Object.keys(resources.requests)).toEqual(['cpu', 'memory']);
      expect(resources.limits.memory).toMatch(/^\d+[MG]i$/);
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    for (const { spec } of deployments) {
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(20);
      for (const { name, ports = [], env = [], startupProbe, livenessProbe, readinessProbe } of spec.template.spec
        .containers) {
        const listens = ports.map((port) => [port.name, String(port.containerPort)]);
        const set = (setting: string) => env.find((one) => one.name === setting)?.value;
        const own: Record<string, [string, string | undefined][]> = {
          api: [['http', set('PORT')]],
          worker: [],
          smtp: [
            ['submission', set('SMTP_IN_PORT')],
            ['submissions', set('SMTP_IN_TLS_PORT')],
          ],
        };
        const metrics = set(`${name === 'smtp' ? 'SMTP_IN' : name.toUpperCase()}_METRICS_PORT`);
        expect(listens).toEqual([...(own[name] ?? []), ['metrics', metrics]]);
        if (name === 'smtp') expect(readinessProbe).toMatchObject({ tcpSocket: { port: 'submission' } });
        const probes = { startupProbe, livenessProbe, ...(name === 'api' ? { readinessProbe } : {}) };
        for (const [probe, asks] of Object.entries(probes)) {
          const asked = (asks as Probe | undefined)?.httpGet;
          expect(
            ports.map((one) => one.name),
            `${name} ${probe}`,
          ).toContain(asked?.port);
          expect(paths).toContain(asked?.path.split('?')[0]);
        }
      }
    }
  });

  test('SMTP is a component: its pods take what its service has, by the certificate of the Ingress, and the API knows of it', () => {
    expect(smtp.configMapGenerator).toEqual([{ name: 'fernpost-settings', behavior: 'merge', envs: ['settings.env'] }]);
    const found = (kind: string, name: string) =>
      manifests.find((one) => one.kind === kind && one.metadata.name === name) as never;
    const pods = found('Deployment', 'fernpost-smtp') as {
      spec: {
        template: {
          spec: {
            containers: (Container & { volumeMounts: { name: string; mountPath: string }[] })[];
            volumes: { name: string; secret?: { secretName: string } }[];
          };
        };
      };
    };
    const {
      containers: [container],
      volumes,
    } = pods.spec.template.spec;
    const service = found('Service', 'fernpost-smtp') as { spec: { ports: { port: number; targetPort: string }[] } };
    expect(service.spec.ports.map(({ port, targetPort }) => [port, targetPort])).toEqual([
      [587, 'submission'],
      [465, 'submissions'],
    ]);
    const mounted = container?.volumeMounts.find(({ mountPath }) =>
      plain.SMTP_IN_TLS_CERT?.startsWith(`${mountPath}/`),
    );
    const secret = volumes.find(({ name }) => name === mounted?.name)?.secret?.secretName;
    const ingress = found('Ingress', 'fernpost') as { spec: { tls: { secretName: string }[] } };
    expect([secret]).toEqual(ingress.spec.tls.map(({ secretName }) => secretName));
    // Without ports of its own, the API names those of the service.
    const api = readConfig({ ...plain, ...secrets }, ['DATABASE_URL', 'TEMPORAL_ADDRESS']);
    expect([api.SMTP_IN_PORT, api.SMTP_IN_TLS_PORT]).toEqual([587, 465]);
  });

  test('the component for workers that are replaced one by one has the build ID of the image', () => {
    const component = parse(deployFile('kubernetes/rolling/kustomization.yaml')) as { patches: { path: string }[] };
    expect(component.patches).toEqual([{ path: 'worker.yaml' }]);
    const patch = parse(deployFile('kubernetes/rolling/worker.yaml')) as Manifest;
    const worker = deployments.find(({ metadata }) => metadata.name === patch.metadata.name);
    expect(patch.spec.strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
    const [container] = patch.spec.template.spec.containers;
    expect(worker?.spec.template.spec.containers.map(({ name }) => name)).toEqual([container?.name]);
    expect(container?.env).toEqual([{ name: 'TEMPORAL_BUILD_ID', value: kustomization.images[0]?.newTag }]);
    const whole = structuredClone(worker) as Manifest;
    Object.assign(whole.spec, { strategy: patch.spec.strategy });
    expect(problems(whole)).toEqual([]);
    expect(unknown((container?.env ?? []).map(({ name }) => name))).toEqual([]);
  });

  test('two releases of workers without a build ID never run side by side, and migrations run between them', () => {
    const worker = deployments.find(({ metadata }) => metadata.name === 'fernpost-worker');
    expect(worker?.spec.strategy).toEqual({ type: 'Recreate' });
    expect(worker?.spec.template.spec.initContainers?.map(({ command }) => command)).toEqual([
      ['node', 'src/main/migrate.ts'],
    ]);
    const commands = containers.map(({ command }) => command.join(' '));
    expect(commands).toContain(`node ${workerNodeOptions.join(' ')} src/main/worker.ts`);
    for (const command of commands) expect(existsSync(join(root, command.split(' ').at(-1) ?? ''))).toBe(true);
  });

  test('Prometheus finds the pods under the names of jobs that the alerts expect', () => {
    const { spec } = parse(deployFile('kubernetes/monitoring/pod-monitor.yaml')) as {
      spec: {
        jobLabel: string;
        selector: { matchLabels: Record<string, string> };
        podMetricsEndpoints: { port: string }[];
      };
    };
    const labels = deployments.map(({ spec: of }) => of.template.metadata.labels);
    expect(labels.map((of) => of[spec.jobLabel])).toEqual(['fernpost-api', 'fernpost-worker', 'fernpost-smtp']);
    for (const of of labels) expect(of).toMatchObject(spec.selector.matchLabels);
    expect(spec.podMetricsEndpoints.map(({ port }) => port)).toEqual(['metrics']);
  });
});

describe('systemd', () => {
  const files = readdirSync(join(root, 'deploy/systemd'));
  const units = files.filter((file) => file.endsWith('.service'));
  const valuesOf = (unit: string, key: string) =>
    [...deployFile(`systemd/${unit}`).matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value ?? '');

  test('names of settings are settings, and make a configuration', () => {
    const env = envFile('systemd/fernpost.env');
    expect(unknown(Object.keys(env))).toEqual([]);
    expect(units).toHaveLength(5);
    for (const unit of units) {
      const own = valuesOf(unit, 'Environment').map((line) => line.split('='));
      expect(unknown(own.map(([name = '']) => name)), unit).toEqual([]);
      // What stands in the file wins over the unit, so that nothing may stand in both.
      expect(own.filter(([name = '']) => name in env)).toEqual([]);
      const given = Object.fromEntries(own.map(([name, value]) => [name, value === '%i' ? '9465' : value]));
      const config = readConfig({ ...given, ...env }, ['DATABASE_URL', 'TEMPORAL_ADDRESS']);
      expect([config.NODE_ENV, config.DATA_DIR]).toEqual(['production', '/var/lib/fernpost']);
    }
  });

  test('the units run programs that exist, give them time to stop, and wait for the migrations', () => {
    const node = '/opt/fernpost/current/node_modules/.bin/node';
    const started = Object.fromEntries(units.map((unit) => [unit, valuesOf(unit, 'ExecStart').join()]));
    expect(started).toEqual({
      'fernpost-api.service': `${node} src/main/api.ts`,
      'fernpost-backup.service': '/opt/fernpost/current/deploy/backup.sh /var/backups/fernpost',
      'fernpost-migrate.service': `${node} src/main/migrate.ts`,
      'fernpost-smtp.service': `${node} src/main/smtp.ts`,
      'fernpost-worker@.service': `${node} ${workerNodeOptions.join(' ')} src/main/worker.ts`,
    });
    for (const unit of ['fernpost-api.service', 'fernpost-smtp.service', 'fernpost-worker@.service']) {
      for (const key of ['Requires', 'After']) expect(valuesOf(unit, key)).toEqual(['fernpost-migrate.service']);
      expect(Number(valuesOf(unit, 'TimeoutStopSec'))).toBeGreaterThanOrEqual(20);
    }
    for (const file of [
      'src/main/api.ts',
      'src/main/smtp.ts',
      'src/main/worker.ts',
      'src/main/migrate.ts',
      'deploy/backup.sh',
    ])
      expect(existsSync(join(root, file)), file).toBe(true);
  });

  test('no unit may write anywhere but to its own folders', () => {
    for (const unit of units) {
      expect(valuesOf(unit, 'User'), unit).toEqual(['fernpost']);
      expect(valuesOf(unit, 'ProtectSystem')).toEqual(['strict']);
      expect(valuesOf(unit, 'StateDirectory')).toEqual(['fernpost']);
      expect(valuesOf(unit, 'NoNewPrivileges')).toEqual(['yes']);
    }
  });
});

test('the pages of operations lead to every file of deploy/', () => {
  const docs = globSync('docs/operations/*.md', { cwd: root })
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  for (const place of readdirSync(join(root, 'deploy'))) expect(docs).toContain(`deploy/${place}`);
  const named = [...docs.matchAll(/`?(deploy\/[\w./@-]+[\w/])/g)].map(([, path]) => path ?? '');
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('every template of a deployment closes sign-ups and says how the first owner is made', () => {
  const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  expect(compose).toContain(`DISABLE_SIGNUPS: \${DISABLE_SIGNUPS:-true}`);
  for (const text of [compose, deployFile('kubernetes/settings.env'), deployFile('systemd/fernpost.env')])
    expect(text).toContain('npm run project -- create --owner');
  for (const path of ['kubernetes/settings.env', 'systemd/fernpost.env'])
    expect(envFile(path).DISABLE_SIGNUPS, path).toBe('true');
});
