import { expect, test } from 'vitest';
import { stopInOrder } from '../../../src/main/start/our-processes.ts';
import { eventually } from '../../../tools/local-stack/test/fakes.ts';

test('a request that takes long holds up the end of the API, not that of the worker', async () => {
  const done: string[] = [];
  const finished = Promise.withResolvers<void>();
  const part = (name: string, until: Promise<void> = Promise.resolve()) => ({
    name,
    stop: () => until.then(() => void done.push(name)),
  });
  const parts = [part('postgres'), part('temporal'), part('sandbox'), part('worker'), part('api', finished.promise)];
  const stopped = stopInOrder(parts, 10);
  await eventually(() => done.length > 0);
  expect(done).toEqual(['worker']);
  finished.resolve();
  await stopped;
  expect(done).toEqual(['worker', 'api', 'sandbox', 'temporal', 'postgres']);
});
