import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settings } from '../../src/config-settings.ts';
import { workerNodeOptions } from '../../src/main/worker-options.ts';
import { dynamicConfig, temporalCliPackage, temporalCliVersion } from '../../temporal/dev-server.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const compose = read('docker-compose.yml');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '');

/** The lines from the one that begins a block to the next that is indented no deeper. */
function block(start: RegExp): string {
  const lines = compose.split('\n');
  const first = lines.findIndex((line) => start.test(line));
  if (first === -1) throw new Error(`no ${start} in docker-compose.yml`);
  const depth = lines[first]?.search(/\S/) ?? 0;
  const length = lines.slice(first + 1).findIndex((line) => line.trim() !== '' && line.search(/\S/) <= depth);
  return lines.slice(first + 1, length === -1 ? undefined : first + 1 + length).join('\n');
}

test('docker-compose.yml sets only settings that exist, so that none is misspelt', () => {
  const names = matches(block(/^ {2}environment: &settings/), /^ {4}([A-Z_]+):/gm);
  expect(names.length).toBeGreaterThan(15);
  const known = Object.keys(settings);
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
  expect(matches(block(/^ {2}worker:/), /^ {6}([A-Z_]+):/gm)).toEqual(['WORKER_METRICS_PORT']);
});

test('docker-compose.yml listens where `npm start` does, and nothing but the API can be opened to others', () => {
  const published = matches(compose, /ports: \["([^"]+)"\]/g);
  expect(published).toEqual([
    `\${BIND_ADDRESS:-127.0.0.1}:\${PORT:-${settings.PORT.fallback}}:3000`,
    `127.0.0.1:\${SANDBOX_PORT:-${settings.SANDBOX_PORT.fallback}}:8025`,
    `127.0.0.1:\${TEMPORAL_PORT:-${settings.TEMPORAL_PORT.fallback}}:7233`,
    `127.0.0.1:\${TEMPORAL_UI_PORT:-${settings.TEMPORAL_UI_PORT.fallback}}:8080`,
  ]);
});

test('docker-compose.yml runs programs that exist and are in the image', () => {
  const programs = matches(`${compose}\n${read('Dockerfile')}`, /node"?,? "?(?:--[\w=-]+, )?(src\/main\/[a-z-]+\.ts)/g);
  expect(new Set(programs)).toEqual(
    new Set(['api', 'worker', 'sandbox', 'migrate', 'build'].map((name) => `src/main/${name}.ts`)),
  );
  for (const program of programs) expect(existsSync(join(root, program)), program).toBe(true);
  const copied = matches(read('.dockerignore'), /^!(\S+)$/gm);
  expect(copied).toEqual(
    expect.arrayContaining(['src', 'workflows', 'activities', 'migrations', 'temporal', 'package.json']),
  );
});

test('a worker has the same options of Node however it is started', () => {
  const [option] = workerNodeOptions;
  expect(workerNodeOptions).toEqual([option]);
  expect(compose).toContain(`command: [node, ${option}, src/main/worker.ts]`);
  expect(JSON.parse(read('package.json')).scripts.worker).toBe(`node ${option} src/main/worker.ts`);
});

test('each service that another waits for exists', () => {
  const services = matches(block(/^services:/), /^ {2}([a-z-]+):/gm);
  const awaited = matches(compose, /^ {6}([a-z-]+): \{ condition: /gm).concat(
    matches(block(/depends_on: &after/), /^ {4}([a-z-]+):/gm),
  );
  expect(awaited.length).toBeGreaterThan(4);
  expect(awaited.filter((name) => !services.includes(name))).toEqual([]);
});

test('a Temporal server in a container gets the same dynamic configuration as the development server', () => {
  const yaml = read('temporal/dynamic-config.yaml').replaceAll(/^#.*\n/gm, '');
  const expected = Object.entries(dynamicConfig).map(([name, value]) => `${name}:\n  - value: ${value}\n`);
  expect(yaml).toBe(expected.join(''));
  expect(compose).toContain('./temporal/dynamic-config.yaml:');
});

test('the Temporal CLI that is built is the version that the code says', () => {
  const goMod = read('temporal/go.mod');
  expect(goMod).toContain(`tool ${temporalCliPackage}\n`);
  expect(goMod).toMatch(new RegExp(`github\\.com/temporalio/cli v${temporalCliVersion.replaceAll('.', '\\.')}\\b`));
});
