const stopOrder = ['service', 'api', 'smtp', 'worker', 'sandbox', 'temporal', 'postgres'];

/**
 * Stops what runs, users before what they use. Requests that take long do not hold up the worker, which needs nothing of
 * those who take them: it is told `headStartMs` after API and SMTP submission at the latest.
 */
export async function stopInOrder(
  running: readonly { name: string; stop(): Promise<void> }[],
  headStartMs = 2_000,
): Promise<void> {
  const ordered = [...running].sort((a, b) => stopOrder.indexOf(a.name) - stopOrder.indexOf(b.name));
  const callers = ordered.filter(({ name }) => name === 'api' || name === 'smtp');
  const answered = Promise.all(callers.map((supervised) => supervised.stop()));
  if (callers.length > 0) await within(answered, headStartMs);
  const worker = ordered.find(({ name }) => name === 'worker');
  await worker?.stop();
  await answered;
  for (const supervised of ordered) if (supervised !== worker && !callers.includes(supervised)) await supervised.stop();
}

async function within(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
