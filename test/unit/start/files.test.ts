import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresName } from '@fernpost/earlier-name';
import { StartError } from '@fernpost/local-stack';
import { expect, test } from 'vitest';
import { keptSecrets } from '../../../src/main/start/settings.ts';
import { keepFirstProject } from '../../../src/main/start/summary.ts';
import { temporaryFolder } from '../../../tools/local-stack/test/fakes.ts';

test('generated secrets are kept for their owner alone and stay the same', () => {
  using folder = temporaryFolder();
  const first = keptSecrets(folder.path);
  expect(first.jwtSecret.length).toBeGreaterThanOrEqual(32);
  expect(keptSecrets(folder.path)).toEqual(first);
  expect(statSync(join(folder.path, 'secrets.json')).mode & 0o777).toBe(0o600);
});

test('a new Postgres has the name of the product; one whose secrets name none keeps that of the release that made it', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'secrets.json');
  const { postgresName: fresh, ...others } = keptSecrets(folder.path);
  expect(fresh).toBe('fernpost');
  writeFileSync(path, JSON.stringify(others));
  expect(keptSecrets(folder.path)).toEqual({ ...others, postgresName });
});

test('an unreadable file of secrets stops the start and is not replaced', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'secrets.json');
  writeFileSync(path, '{"jwtSecret":');
  expect(() => keptSecrets(folder.path)).toThrow(StartError);
  expect(readFileSync(path, 'utf8')).toBe('{"jwtSecret":');
});

const places = {
  baseUrl: 'http://localhost:3000',
  sandboxUrl: 'http://localhost:8025',
  temporalAddress: 'localhost:7233',
  temporalUiUrl: 'http://localhost:8233',
};
const made = {
  baseUrl: 'http://localhost:3000',
  projectId: '0198c1c4-0000-7000-8000-000000000001',
  publicKey: 'pk_example',
  secretKey: 'sk_example',
  sender: 'hello@fernpost.test',
  login: { email: 'owner@fernpost.test', password: 'long enough' },
  temporalAddress: 'localhost:7233',
};

test('the first project is written for its owner alone, with every field of the contract', () => {
  using folder = temporaryFolder();
  keepFirstProject(folder.path, made, places);
  const path = join(folder.path, 'first-project.json');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ ...made, ...places });
});

test('a later start keeps the keys of the first project and corrects where it is', () => {
  using folder = temporaryFolder();
  keepFirstProject(folder.path, made, places);
  const moved = { ...places, baseUrl: 'http://localhost:4000' };
  expect(keepFirstProject(folder.path, null, moved)).toMatchObject({ secretKey: 'sk_example', baseUrl: moved.baseUrl });
  const file = JSON.parse(readFileSync(join(folder.path, 'first-project.json'), 'utf8'));
  expect(file).toMatchObject({ secretKey: 'sk_example', baseUrl: moved.baseUrl });
});

test('a database that had a project before leaves no file and tells no keys', () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, 'logs'));
  expect(keepFirstProject(folder.path, null, places)).toBeNull();
  expect(existsSync(join(folder.path, 'first-project.json'))).toBe(false);
});
