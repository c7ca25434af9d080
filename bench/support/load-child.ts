import { Agent, request } from 'undici';
import type { LoadOrder, LoadResult } from './load.ts';

process.once('message', (message) => {
  run(message as LoadOrder)
    .then((result) => process.send?.(result, () => process.exit(0)))
    .catch((error) => {
      console.error(error);
      process.exit(1);
    });
});

async function run(order: LoadOrder): Promise<LoadResult> {
  const agent = new Agent({ connections: order.connections, pipelining: 1 });
  const times: number[] = [];
  let failures = 0;
  let next = 0;
  const endsAt = performance.now() + order.seconds * 1000;
  const ask = async () => {
    while (order.bodies ? next < order.bodies.length : performance.now() < endsAt) {
      const began = performance.now();
      const answer = await request(`${order.url}${order.path}`, {
        dispatcher: agent,
        method: 'POST',
        headers: { authorization: order.authorization, 'content-type': order.contentType ?? 'application/json' },
        body: order.bodies?.[next++] ?? JSON.stringify(bodyOf(order, next++)),
      });
      await answer.body.dump();
      if (answer.statusCode !== 200) failures++;
      times.push(performance.now() - began);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: order.connections }, ask));
  const seconds = (performance.now() - startedAt) / 1000;
  await agent.close();
  times.sort((one, other) => one - other);
  return {
    requests: times.length,
    requestsPerSecond: times.length / seconds,
    medianMs: times[Math.floor(times.length / 2)] ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
    failures,
  };
}

// Ten thousand contacts come back again and again, as in a live project; a tenth of the requests changes their data.
function bodyOf(order: LoadOrder, index: number): object {
  const email = `person${(index * 7919) % 10_000}@example.com`;
  const data = index % 10 === 0 ? { score: index } : { plan: 'pro' };
  if (order.kind === 'track') return { email, event: 'opened_app', data };
  return {
    to: email,
    from: order.from,
    subject: 'Hello {{firstName}}',
    body: '<h1>Welcome, {{firstName}}</h1><p>Your plan is {{plan}}. Thank you for being with us.</p>',
    data: { firstName: 'Ada', ...data },
  };
}
