import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StoreChanges } from '../src/store/log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('tells of a change at once, and of many that follow at most four times a second', () => {
  const changes = new StoreChanges();
  const told: string[] = [];
  const stop = changes.follow(changes.version, (version) => told.push(version));
  expect(told).toEqual([]);
  for (let i = 0; i < 1_000; i += 1) changes.note();
  expect(told).toHaveLength(1);
  vi.advanceTimersByTime(250);
  expect(told).toHaveLength(2);
  expect(told[1]).toBe(changes.version);
  vi.advanceTimersByTime(10_000);
  expect(told).toHaveLength(2);
  changes.note();
  expect(told).toHaveLength(3);
  changes.note();
  stop();
  vi.advanceTimersByTime(10_000);
  expect(told).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
});

test('tells at once whoever knows an earlier state, or one of another run', () => {
  const changes = new StoreChanges();
  const { version } = changes;
  changes.note();
  const told: string[] = [];
  changes.follow(version, (one) => told.push(one));
  changes.follow(new StoreChanges().version, (one) => told.push(one));
  expect(told).toEqual([changes.version, changes.version]);
});
