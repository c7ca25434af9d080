import type { Supervised } from '@posthorn/local-stack';

const stopOrder = ['api', 'worker', 'sandbox', 'temporal', 'postgres'];

/**
 * Stops what runs, users before what they use. Requests that take long do not hold up the worker, which needs nothing of the
 * API: it is told `headStartMs` after the API at the latest.
 */
export async function stopInOrder(
  running: readonly Pick<Supervised, 'name' | 'stop'>[],
  headStartMs = 2_000,
): Promise<void> {
  const ordered = [...running].sort((a, b) => stopOrder.indexOf(a.name) - stopOrder.indexOf(b.name));
  const api = ordered.find(({ name }) => name === 'api')?.stop();
  if (api) await within(api, headStartMs);
  await ordered.find(({ name }) => name === 'worker')?.stop();
  await api;
  for (const supervised of ordered.filter(({ name }) => name !== 'api' && name !== 'worker')) await supervised.stop();
}

async function within(work: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
