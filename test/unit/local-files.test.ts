import { closeSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { keepFirstProject } from '../../src/main/local/first-project.ts';
import { openLog } from '../../src/main/local/log-file.ts';
import { keptSecrets } from '../../src/main/local/secrets.ts';
import { StartError } from '../../src/main/local/start-error.ts';
import { temporaryFolder } from '../support/start-fakes.ts';

test('a log stays below twice its size and keeps the newest lines', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'logs/api.log');
  const log = openLog(path, 1_000);
  for (let i = 1; i <= 500; i++) log.write(`line ${i}\n`);
  expect(statSync(path).size).toBeLessThanOrEqual(1_000);
  expect(statSync(`${path}.1`).size).toBeLessThanOrEqual(1_000);
  expect(readFileSync(path, 'utf8')).toContain('line 500\n');
  expect(log.tail(2)).toEqual(['line 499', 'line 500']);
});

test('a program that writes to its log by itself goes on in a bounded file, and its last words are told from those of an earlier run', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'postgres.log');
  vi.useFakeTimers();
  try {
    const log = openLog(path, 1_000);
    log.write('an earlier run\n');
    const descriptor = log.openForProgram();
    writeSync(descriptor, 'could not bind the port\n');
    expect(log.tail(5)).toEqual(['could not bind the port']);
    for (let i = 1; i <= 500; i++) writeSync(descriptor, `line ${i}\n`);
    vi.advanceTimersByTime(61_000);
    writeSync(descriptor, 'after making room\n');
    closeSync(descriptor);
    expect(readFileSync(path, 'utf8')).toBe('after making room\n');
    expect(readFileSync(`${path}.1`, 'utf8')).toContain('line 500\n');
    expect(log.tail(5)).toEqual(['after making room']);
  } finally {
    vi.useRealTimers();
  }
});

test('a log that was there before goes on where it ended', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'worker.log');
  openLog(path).write('yesterday\n');
  openLog(path).write('today\n');
  expect(readFileSync(path, 'utf8')).toBe('yesterday\ntoday\n');
});

test('generated secrets are kept for their owner alone and stay the same', () => {
  using folder = temporaryFolder();
  const first = keptSecrets(folder.path);
  expect(first.jwtSecret.length).toBeGreaterThanOrEqual(32);
  expect(keptSecrets(folder.path)).toEqual(first);
  expect(statSync(join(folder.path, 'secrets.json')).mode & 0o777).toBe(0o600);
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
  sender: 'hello@posthorn.test',
  login: { email: 'owner@posthorn.test', password: 'long enough' },
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
