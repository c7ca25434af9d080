import { closeSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openLog } from '../src/process/log-file.ts';
import { temporaryFolder } from './fakes.ts';

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
