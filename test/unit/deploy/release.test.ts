import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { settings } from '../../../src/lib/config/settings.ts';
import { workerNodeOptions } from '../../../src/main/setup/process.ts';
import { deployFile } from '../../support/deploy.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
const values = parse(deployFile('helm/values.yaml')) as { settings: Record<string, string>; existingSecret: string };

test('the version of package.json is that of the dashboard, the chart, the manifests and the changelog', () => {
  const chart = parse(deployFile('helm/Chart.yaml')) as { version: string; appVersion: string };
  const released = [...read('CHANGELOG.md').matchAll(/^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$/gm)].map(
    ([, of]) => of,
  );
  expect([
    (JSON.parse(read('dashboard/package.json')) as { version: string }).version,
    chart.version,
    chart.appVersion,
    (parse(deployFile('kubernetes/kustomization.yaml')) as { images: { newTag: string }[] }).images[0]?.newTag,
    released[0],
  ]).toEqual(Array(5).fill(version));
});

describe('Helm', () => {
  test('settings are settings, none of them a secret, and sign-ups are closed', () => {
    expect(Object.keys(values.settings).filter((name) => !(name in settings))).toEqual([]);
    expect(values.settings).toMatchObject({ NODE_ENV: 'production', DISABLE_SIGNUPS: 'true' });
    expect(deployFile('helm/values.yaml')).toContain('npm run project -- create --owner');
    const refused = (
      JSON.parse(deployFile('helm/values.schema.json')) as {
        properties: { settings: { properties: Record<string, false> } };
      }
    ).properties.settings.properties;
    expect(Object.keys(refused).filter((name) => !(name in settings))).toEqual([]);
  });

  // Where there is no helm, the text of the templates is all that can be checked.
  const hasHelm = spawnSync('helm', ['version']).status === 0;

  test.runIf(hasHelm)('is linted and renders what deploy/kubernetes has, with scaling, budgets and a hook', () => {
    execFileSync('helm', ['lint', '--strict', join(root, 'deploy/helm')]);
    const text = execFileSync(
      'helm',
      ['template', 'fernpost', join(root, 'deploy/helm'), '--kube-version', '1.34.0', '--set', 'ingress.enabled=true'],
      { encoding: 'utf8' },
    );
    const rendered = parseAllDocuments(text).flatMap((document) =>
      document.contents === null ? [] : [document.toJS()],
    );
    const kinds = rendered.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
    expect(kinds).toEqual([
      'ConfigMap fernpost-settings',
      'Deployment fernpost-api',
      'Deployment fernpost-worker',
      'HorizontalPodAutoscaler fernpost-api',
      'HorizontalPodAutoscaler fernpost-worker',
      'Ingress fernpost',
      'Job fernpost-migrate',
      'NetworkPolicy fernpost',
      'PodDisruptionBudget fernpost-api',
      'PodDisruptionBudget fernpost-worker',
      'Service fernpost',
    ]);
    for (const args of [
      ['--set', 'settings.JWT_SECRET=x'],
      ['--set', 'api.replica=3'],
    ])
      expect(spawnSync('helm', ['template', join(root, 'deploy/helm'), ...args]).status).not.toBe(0);
  });

  test('pods run the programs of the other templates, with the same probes', () => {
    const [api, worker] = [deployFile('helm/templates/api.yaml'), deployFile('helm/templates/worker.yaml')];
    expect(worker).toContain(`command: [node, ${workerNodeOptions.join(' ')}, src/main/worker.ts]`);
    for (const [chart, manifest] of [
      [api, deployFile('kubernetes/api.yaml')],
      [worker, deployFile('kubernetes/worker.yaml')],
    ] as const) {
      const probes = (text: string) => text.match(/httpGet: .*/g);
      expect(probes(chart)).toEqual(probes(manifest));
    }
    expect(worker).toContain('strategy: { type: Recreate }');
  });
});

test('the image is built from one base, by digest where one is known, and without sources of the dashboard', () => {
  const image = read('Dockerfile');
  const base = /^ARG NODE_IMAGE=(.*)$/m.exec(image)?.[1] ?? '';
  expect(base).toMatch(/^node:24-slim(@sha256:[0-9a-f]{64})?$/);
  const from = [...image.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(([, name]) => name);
  expect(from).toEqual(Array(3).fill(`\${NODE_IMAGE}`));
  const last = image.slice(image.lastIndexOf('\nFROM '));
  expect(last).not.toMatch(/^COPY (\.|dashboard)/m);
  expect(last).toMatch(/^USER node$/m);
});

describe('hosted CI', () => {
  const folder = join(root, '.github/workflows');
  const workflows = readdirSync(folder).map((file) => [file, parse(readFileSync(join(folder, file), 'utf8'))] as const);

  test.each(workflows)(
    '%s is YAML whose jobs have few rights, a time limit and actions with a version',
    (_, workflow) => {
      expect(workflow.permissions).toBeDefined();
      for (const job of Object.values(workflow.jobs) as {
        'timeout-minutes': number;
        steps: { uses?: string; run?: string }[];
      }[]) {
        expect(job['timeout-minutes']).toBeGreaterThan(0);
        for (const { uses, run } of job.steps) {
          expect([uses, run].filter(Boolean)).toHaveLength(1);
          if (uses !== undefined) expect(uses).toMatch(/^[\w-]+\/[\w-]+@(v\d+|[0-9a-f]{40})$/);
          for (const [, script = ''] of run?.matchAll(/npm run (\S+)/g) ?? [])
            expect(JSON.parse(read('package.json')).scripts).toHaveProperty(script.replace(/^--$/, ''));
        }
      }
    },
  );

  test('Renovate pins what stands by tag', () => {
    const { extends: rules } = JSON.parse(read('renovate.json')) as { extends: string[] };
    expect(rules).toEqual(expect.arrayContaining(['docker:pinDigests', 'helpers:pinGitHubActionDigests']));
  });

  test('forms of issues are YAML', () => {
    const forms = join(root, '.github/ISSUE_TEMPLATE');
    for (const file of readdirSync(forms))
      expect(parse(readFileSync(join(forms, file), 'utf8')), file).toBeTypeOf('object');
  });
});

test('the notices have a license for every package that the service runs with', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-notices-'));
  try {
    const file = join(folder, 'notices.md');
    execFileSync(process.execPath, [join(root, 'src/main/write-notices.ts'), file]);
    const rows = [...readFileSync(file, 'utf8').matchAll(/^\| (\S+) \| (\d\S+) \| (.+) \|$/gm)];
    expect(rows.map(([, name]) => name)).toEqual(expect.arrayContaining(['koa', 'pg', '@temporalio/worker']));
    // A copyleft license would bind who passes the image on.
    const known =
      /^\(?(MIT|MIT-0|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|Unlicense|Python-2\.0|CC0-1\.0|CC-BY-4\.0|MPL-2\.0|Zlib)\b/;
    // Its manifest names no license; its text is the Unlicense.
    const unnamed = ['unionfs'];
    const others = rows.filter(([, , , license]) => !known.test(license ?? '')).map(([, name]) => name);
    expect(others).toEqual(unnamed);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
